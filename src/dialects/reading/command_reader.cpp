#include "dialects/reading/readers.hpp"
#include "dialects/servers/server_rules.hpp"
#include "dialects/shell/containers.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::dialects {
namespace {

/// The program that a command starts, and its options.
struct Start {
  const Starter* starter = nullptr;  ///< where its name is known
  const Format* format = nullptr;    ///< by that name, or by the options; where neither is known it is not read
  Options options;
  std::string_view config = "config";  ///< the option that names its file; "" where that stands by itself
};

/// Scripts show the command that they start.
bool only_prints(std::string_view program) { return program == "echo" || program == "printf"; }

Start start_of(const LaunchCommand& launch, std::string_view place) {
  if (launch.words.empty() || only_prints(launch.words.front().text)) return {};
  const auto [starter, words] = starter_of(launch.words);
  Start start{starter, nullptr, options_of(launch.words, starter == nullptr ? 1 : words, place)};
  start.format = starter == nullptr ? format_of(start.options.settings) : &row_of(starter->dialect);
  if (starter != nullptr) start.config = starter->config;
  return start;
}

bool is_settings_file(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json") || name.ends_with(".toml");
}

/// "train.py config.yaml" and "train.py --config config.yaml" of a program that nobody knows: the file says whose
/// settings it holds.
void take_format_of_file(const LaunchCommand& launch, const FindFile& find, Start& start) {
  if (start.format != nullptr || launch.words.empty() || !launch.words.front().text.ends_with(".py")) return;
  const auto take = [&](const std::string& name, std::string_view config) {
    const auto file = is_settings_file(name) ? find(name) : std::nullopt;
    if (!file) return;
    const Node node = parse_settings(file->text, file->place);
    if (node.kind == Node::Kind::table) start.format = format_of(flat(node));
    start.config = config;
  };
  for (const ShellWord& word : start.options.positional) take(word.text, {});
  const Setting* named = start.options.settings.find("config");
  if (start.format == nullptr && named != nullptr) take(named->text, "config");
}

/// LLAMA_ARG_CTX_SIZE is --ctx-size, where that is not said; Ollama has variables alone.
void add_variable(const Setting& variable, Settings& settings) {
  for (const std::string_view prefix : {"environment.LLAMA_ARG_", "environment.OLLAMA_"}) {
    if (!variable.key.starts_with(prefix)) continue;
    Setting setting = variable;
    setting.key = quantity::to_lower(std::string_view(variable.key).substr(prefix.size()));
    if (!settings.has(setting.key)) settings.put(std::move(setting));
  }
}

/// torchtitan run_train.sh
void take_config_of_environment(const LaunchCommand& launch, Start& start) {
  const Setting* named = launch.launcher.find("environment.CONFIG_FILE");
  if (named == nullptr || start.format->dialect != Dialect::torchtitan || start.options.settings.has(start.config))
    return;
  start.options.settings.put({std::string(start.config), named->text, {}, named->where, named->unknown});
}

/// GPT-NeoX's `-d configs 125M local_setup` (neox_args.py, consume_deepy_args): files of a folder, whose ending may be
/// left out, as files that stand by themselves.
void take_files_of_folder(Start& start) {
  if (start.format->dialect != Dialect::gpt_neox) return;
  for (const auto* key : {"d", "conf_dir"}) {
    const Setting* named = start.options.settings.find(key);
    if (named == nullptr || named->items.size() < 2) continue;
    const Setting folder = *named;
    start.options.settings.remove(key);
    for (std::size_t at = 1; at < folder.items.size(); ++at) {
      const std::string file = folder.items[0] + "/" + folder.items[at];
      start.options.positional.push_back({is_settings_file(file) ? file : file + ".yml", line_of(folder.where), {}});
    }
  }
}

/// An option of a server that says one thing takes one value, and so does each of LitGPT's: what stands behind it is a
/// word of the command.
void take_words_behind(Start& start) {
  const bool takes_one = start.format->dialect == Dialect::litgpt;
  if (!start.format->serves && !takes_one) return;
  for (Setting& option : start.options.settings.all()) {
    if (option.items.size() < 2 || (!takes_one && term_of(*start.format, option.key).empty())) continue;
    for (std::size_t at = 1; at < option.items.size(); ++at)
      start.options.positional.push_back({option.items[at], line_of(option.where), {}});
    option.text = option.items.front();
    option.items.clear();
  }
}

/// Parts of the names of programs that train.
constexpr std::string_view trains[] = {"train", "tune", "sft", "gpt.py", "dpo"};

bool has_any(std::string_view name, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return name.find(word) != name.npos; });
}

/// "eval.py" and "llamafactory-cli export" take the arguments of a training.
bool uses_a_model(const Start& start, const ShellWord& program) {
  constexpr Dialect of_training[] = {Dialect::trainer, Dialect::llama_factory};
  if (start.starter != nullptr || !quantity::contains(of_training, start.format->dialect)) return false;
  constexpr std::string_view uses[] = {"eval", "predict", "infer", "generat", "export", "merge"};
  std::string name = quantity::to_lower(base_name(program.text));
  const auto& words = start.options.positional;
  if (!words.empty() && words.front().text.find_first_of("./") == std::string::npos) name += "." + words.front().text;
  const auto parts = quantity::pieces_of(name, "_-.");
  const auto begins = [&](std::span<const std::string_view> with) {
    return std::ranges::any_of(parts, [&](std::string_view part) {
      return std::ranges::any_of(with, [&](std::string_view word) { return part.starts_with(word); });
    });
  };
  return begins(uses) && !has_any(name, trains);
}

/// Arguments of Megatron-LM and MaxText describe the model of their other programs as well, those that serve, quantize
/// and evaluate, and Megatron's a part of models that are no decoders of text
/// (pretrain_{bert,ict,retro,t5,vision_classify,vlm}.py).
void refuse_other_program(const Start& start, const ShellWord& program, std::string_view place) {
  constexpr Dialect shared[] = {Dialect::megatron, Dialect::maxtext};
  if (start.starter != nullptr || !quantity::contains(shared, start.format->dialect)) return;
  const std::string name = quantity::to_lower(base_name(program.text));
  constexpr std::string_view other_models[] = {"_bert", "_ict", "_retro", "_t5", "_vision", "_vlm"};
  const bool is_other = has_any(name, other_models);
  if (has_any(name, trains) && !is_other) return;
  throw quantity::BadInput(
      place_of(place, program, program.text),
      fmt::format("{} has keys of a {}, and {}", quantity::quoted(program.text), start.format->name,
                  is_other ? "trains a model of which they say a part" : "is not known to train"),
      "the program that trains in its place asks about training, llmcalc serve about a server");
}

/// vLLM and SGLang understand options by their beginnings (argparse, allow_abbrev): one that is nobody else's is that
/// option.
void complete_options(Start& start) {
  constexpr Dialect abbreviating[] = {Dialect::vllm, Dialect::sglang};
  constexpr std::size_t shortest = 6;
  if (start.starter == nullptr || !quantity::contains(abbreviating, start.format->dialect)) return;
  for (Setting& setting : start.options.settings.all()) {
    const bool is_whole = setting.key == start.config || knows_key(*start.format, setting.key);
    if (setting.key.size() < shortest || is_whole) continue;
    if (auto name = key_beginning(*start.format, setting.key); !name.empty()) setting.key = std::move(name);
  }
}

/// swift starts one process where nobody says how many (swift/cli/main.py, use_torchrun), which spreads the layers over
/// all cards that it sees (swift/llm/utils, get_default_device_map).
void leave_spread_open(const Start& start, const Settings& launcher, Reading& reading) {
  constexpr std::string_view starts_several[] = {"torchrun.", "deepspeed.", "accelerate.", "environment.NPROC_PER_NODE",
                                                 "environment.NNODES"};
  const auto is_of = [&](const Setting& setting) {
    return std::ranges::any_of(starts_several, [&](std::string_view key) { return setting.key.starts_with(key); });
  };
  const auto* gpus = quantity::find_or_null(reading.words, "gpus", &Given::term);
  if (start.format->dialect != Dialect::ms_swift || gpus == nullptr || gpus->text == "1") return;
  if (std::ranges::any_of(launcher.all(), is_of) || start.options.settings.has("deepspeed")) return;
  reading.open.push_back({"gpus",
                          fmt::format("one process spreads the model's layers over {} accelerators (device_map), "
                                      "which is not modelled; NPROC_PER_NODE={} starts one on each",
                                      gpus->text, gpus->text),
                          gpus->origin});
  std::erase_if(reading.words, [](const Given& word) { return word.term == "gpus"; });
}

/// A server takes as many of the cards that it sees as its ranks are (vllm/config/parallel.py, world_size; SGLang
/// server_args.py, tp_size and pp_size), unless its own options say copies.
void take_ranks(Reading& reading) {
  const auto number = [&](std::string_view term) {
    const auto* word = quantity::find_or_null(reading.words, term, &Given::term);
    std::string_view text = word == nullptr ? std::string_view("1") : std::string_view(word->text);
    return quantity::take_number<std::int64_t>(text).value_or(0);
  };
  auto* gpus = quantity::find_or_null(reading.words, "gpus", &Given::term);
  const bool is_open = quantity::contains(quantity::mapped(reading.open, &Given::term), std::string("tp"));
  if (!reading.serves || gpus == nullptr || is_open || !read::has_word(reading.words, "tp") || number("nodes") != 1)
    return;
  const auto ranks = quantity::product(number("tp"), number("pp"), number("attention_dp"));
  if (ranks < 1 || number("gpus") <= ranks) return;
  reading.assumptions.push_back(
      {fmt::format("{} of {} accelerators ({}): its tensor and pipeline parallelism takes no more", ranks, gpus->text,
                   gpus->origin.where)});
  gpus->text = std::to_string(ranks);
}

std::string_view algorithm_of(const Start& start, std::string_view program) {
  if (start.starter != nullptr) return start.starter->algorithm;
  return start.format->dialect == Dialect::trainer ? algorithm_named_in(program) : std::string_view();
}

}  // namespace

std::optional<Reading> CommandReader::read(const ShellCommand& command, const Settings& job) {
  LaunchCommand launch = unwrapped(command, place_);
  launch.launcher.put(job);
  Start start = start_of(launch, place_);
  take_format_of_file(launch, find_, start);
  if (start.format == nullptr || uses_a_model(start, launch.words.front())) return std::nullopt;
  refuse_other_program(start, launch.words.front(), place_);

  std::vector<Reading> readings(1);
  take_processes(launch.launcher, readings.front());
  take_accelerate(launch.launcher, readings);
  take_config_of_environment(launch, start);
  complete_options(start);
  leave_spread_open(start, launch.launcher, readings.front());
  take_files_of_folder(start);
  take_words_behind(start);
  Settings settings = with_file(std::move(start.options), start.config);
  if (find_row(*start.format, "recipe") == nullptr) settings.remove("recipe");
  const ShellWord& program = launch.words.front();
  if (const auto algorithm = algorithm_of(start, program.text); !algorithm.empty()) {
    settings.put({"algorithm", std::string(algorithm), {}, place_of(place_, program, program.text), {}});
  }
  for (const Setting& setting : launch.launcher.all()) add_variable(setting, settings);
  readings.push_back(reader_.settings(*start.format, settings, place_));
  const bool says_cards = read::has_word(readings.back().words, "gpus");
  Reading all = merge(std::move(readings));
  take_machines(launch.launcher, all);
  if (!says_cards) take_ranks(all);
  all.kind = std::string(start.format->name);
  all.place = place_;
  quantity::append(all.assumptions, assumptions_);
  quantity::append(all.missing, missing_);
  return all;
}

void CommandReader::take_accelerate(const Settings& launcher, std::vector<Reading>& readings) const {
  Settings settings = accelerate_settings(launcher);
  const Setting* file = settings.find("config_file");
  if (file != nullptr) {
    if (auto reading = reader_.file_named(file->text)) {
      readings.push_back(*std::move(reading));
    } else {
      Settings named;
      named.put({"accelerate_config", file->text, {}, file->where, {}});
      Reading by_name = reader_.settings(row_of(Dialect::accelerate), named, place_);
      by_name.assumptions = {{file->where + " " + file->text + " was not read: say --from " + file->text}};
      by_name.missing = {{file->key, file->text, {Source::file, file->where}}};
      readings.push_back(std::move(by_name));
    }
    settings.remove("config_file");
  }
  if (!settings.all().empty()) readings.push_back(reader_.settings(row_of(Dialect::accelerate), settings, place_));
}

Settings CommandReader::with_file(Options options, std::string_view key) {
  std::vector<Settings> files;
  for (const std::string_view option : {key, std::string_view("config")}) {
    const Setting* named = option.empty() ? nullptr : options.settings.find(option);
    if (named == nullptr || (option != key && !is_settings_file(named->text))) continue;
    Setting file = *named;
    if (file.text.empty() && !file.unknown.empty()) file.text = "${" + file.unknown + "}";
    options.settings.remove(option);
    if (add_file(file.text, file.where, files) || is_settings_file(file.text)) continue;
    options.settings.put({"recipe", file.text, {}, file.where, {}});  // a name that the program itself knows
  }
  std::size_t count = 0;
  for (const ShellWord& word : options.positional) {
    const std::string named = with_gaps(word);
    if (!word.unknown.empty() && find_(named)) {
      add_file(named, place_of(place_, word, named), files);
    } else if (word.text.empty() && !word.unknown.empty()) {  // a value, or options
      assumptions_.push_back(
          {word.unknown + " (" + place_of(place_, word, word.unknown) + ") is not known: options in it are not read"});
    } else if (key.empty() && is_settings_file(word.text)) {
      add_file(word.text, place_of(place_, word, word.text), files);
    } else {
      const std::string name = "positional." + std::to_string(count++);
      const bool in_folder = !word.unknown.empty() && ends_known(word);
      options.settings.put({name, word.text, {}, place_of(place_, word, word.text), word.unknown, in_folder});
    }
  }
  Settings all;
  for (const Settings& file : files) all.put(file);
  all.put(options.settings);
  interpolate(all);
  return all;
}

bool CommandReader::add_file(const std::string& path, const std::string& where, std::vector<Settings>& files) {
  if (const auto file = find_(path)) {
    auto modelfile = parse_modelfile(file->text, file->place);
    files.push_back(modelfile ? *std::move(modelfile) : reader_.inherited(parse_settings(file->text, file->place), 0));
  } else {
    assumptions_.push_back(
        {path + " (" + where + ") was not read: it is not there, or not in the folder; say --from " + path});
    missing_.push_back({{}, path, {Source::file, where}});
    return false;
  }
  return true;
}

bool calls_ollama(const ShellCommand& command, std::string_view verb) {
  return command.words.size() >= 2 && base_name(command.words[0].text) == "ollama" && command.words[1].text == verb;
}

bool starts_training(const ShellCommand& command, std::string_view place) {
  const Start start = start_of(unwrapped(command, place), place);
  return start.format != nullptr && !start.format->serves;
}

void name_further(const ShellCommand& command, std::string_view place, Reading& first, std::string_view which) {
  const LaunchCommand launch = unwrapped(command, place);
  const Start start = start_of(launch, place);
  if (start.format == nullptr) return;
  const ShellWord& program = launch.words.front();
  const std::string name(start.starter == nullptr ? std::string_view(program.text) : start.starter->name);
  first.assumptions.push_back({name + " (" + place_of(place, program, program.text) +
                               ") is started as well: " + std::string(which) + " is asked about"});
}

}  // namespace llmcalc::dialects
