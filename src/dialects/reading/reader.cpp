#include "dialects/machine/texts.hpp"
#include "dialects/reading/readers.hpp"
#include "dialects/servers/server_rules.hpp"
#include "dialects/shell/containers.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"

#include <algorithm>

namespace llmcalc::dialects {
namespace {

using quantity::BadInput;

/// Files that name each other in a circle end here.
constexpr int most_files_deep = 4;

constexpr std::string_view known_things =
    "known are files of axolotl, LLaMA-Factory, trl, transformers, accelerate, DeepSpeed, ms-swift, torchtitan, "
    "torchtune, NeMo, NeMo AutoModel, NeMo-RL, verl, OpenRLHF, slime, prime-rl, MaxText, Levanter, llm-foundry, "
    "Primus, GPT-NeoX and Megatron-LM, commands and scripts that start them or a server, manifests of Kubernetes, "
    "KAITO's workspaces, compose files, tasks of SkyPilot and dstack, files of llama-swap, output of nvidia-smi and "
    "pip, snapshots of PyTorch's memory, training_args.bin, GGUF, safetensors and model folders";

/// Says what may be typed instead of a text in which nothing known starts.
std::string hint_beside(std::string_view text) {
  for (const std::string engine : {"text-generation-inference", "text-generation-launcher", "lmdeploy serve"}) {
    if (text.find(engine) == text.npos) continue;
    return engine + " is not modelled: say llmcalc serve --model with --engine vllm, sglang or trtllm";
  }
  return std::string(known_things);
}

/// The files that a script or a manifest writes, and those of a folder.
FindFile beside(const Files& written, const FindFile& others) {
  return [&](const std::string& path) -> std::optional<NamedFile> {
    const auto is_called_so = [&](const auto& each) { return base_name(each.first) == base_name(path); };
    auto file = written.find(path);
    if (file == written.end() && std::ranges::count_if(written, is_called_so) == 1)
      file = std::ranges::find_if(written, is_called_so);
    return file == written.end() ? others(path) : NamedFile{file->first, file->second};
  };
}

/// The workers of a job run what its master runs.
bool is_replica(const LaunchCommand& container, const LaunchCommand& of) {
  return std::ranges::equal(container.words, of.words, {}, &ShellWord::text, &ShellWord::text);
}

/// "/root/.cache/huggingface/hub/models--org--name/snapshots/<commit>", where huggingface_hub keeps a model
/// (file_download.py, repo_folder_name).
void name_as_on_the_hub(std::string& path) {
  constexpr std::string_view folder = "models--";
  const auto at = path.find(folder);
  if (at == path.npos) return;
  const auto name = path.substr(at + folder.size(), path.find('/', at) - at - folder.size());
  const auto dashes = name.find("--");
  if (dashes != name.npos) path = name.substr(0, dashes) + "/" + name.substr(dashes + 2);
}

}  // namespace

Reading Reader::settings(const Format& format, const Settings& written, std::string_view place) const {
  Settings settings = written;
  rename(format, settings);
  Reading reading;
  reading.open = take_open(format, settings);
  reading.kind = format.name;
  reading.place = place;
  reading.serves = format.serves;
  Sheet sheet(settings, reading, *this);
  if (!format.frameworks.empty()) {
    sheet.by_default(format.serves ? "engine" : "framework", format.framework(), format.name);
  }
  apply(format, sheet);
  if (auto* model = quantity::find_or_null(reading.words, "model", &Given::term)) name_as_on_the_hub(model->text);
  std::vector<Reading> all = sheet.take_included();
  if (all.empty()) return reading;
  all.push_back(std::move(reading));
  return merge(std::move(all));
}

Reading Reader::file(std::string_view text, std::string_view place) const {
  if (auto measured = read_memory_snapshot(text, place)) return *std::move(measured);
  refuse_large(text, place);
  if (is_pickled(text)) return pickled(text, place);
  const bool looks = looks_like_shell(text) || place.ends_with(".sh");
  if (looks && text.substr(0, text.find('\n')).find("python") == text.npos) return command(text, place);
  if (auto cards = read_nvidia_smi(text, place)) return *std::move(cards);
  if (auto packages = read_requirements(text, place)) return *std::move(packages);
  const bool is_recipe = text.find("\ncompatible_strategies:") != text.npos;  // of vLLM's, whose guide has others
  if (const auto commands = is_recipe ? std::nullopt : commands_in(text)) return command(*commands, place);
  refuse_python(text, place);
  if (const auto commands = commands_in_rules(text)) return command(*commands, place);
  if (looks_like_dockerfile(text)) {
    if (const auto started = command_of_image(text)) return command(*started, place);
    throw BadInput(std::string(place), "builds an image and starts nothing by itself", "say the command that it runs");
  }
  if (const auto modelfile = parse_modelfile(text, place))
    return settings(row_of(Dialect::modelfile), *modelfile, place);
  if (!begins_like_settings(text) && is_launch_command(text)) return command(text, place);
  const Node node = parse_settings(text, place);
  if (const auto commands = commands_in_notebook(node, text, place)) return command(*commands, place);
  if (auto started = task(node, place)) return *std::move(started);
  if (auto started = containers(node, place)) return *std::move(started);
  if (node.kind != Node::Kind::table) return command(text, place);
  if (auto model = model_file(node, text, place)) return *std::move(model);
  Settings settings = inherited(node, 0);
  interpolate(settings);
  unwrap_wandb(settings);
  const Format* format = format_of(settings);
  if (format != nullptr) return this->settings(*format, settings, place);
  if (describes_containers(node)) {
    throw BadInput(std::string(place), "describes no container whose command starts a trainer or server that is known",
                   hint_beside(text));
  }
  throw BadInput(std::string(place), "is a file of settings that no known trainer or server has",
                 std::string(known_things));
}

/// A file of torch.save: `training_args.bin` holds the arguments of a Trainer.
Reading Reader::pickled(std::string_view bytes, std::string_view place) const {
  const Node node = parse_pickle(bytes, place);
  Settings settings = flat(node);
  name_trainer(node.text, settings);
  const Format* format = node.kind == Node::Kind::table ? format_of(settings) : nullptr;
  if (format != nullptr) return this->settings(*format, settings, place);
  const std::string held = node.text.empty() ? "values" : "an object of " + quantity::quoted(node.text);
  throw BadInput(std::string(place), "is a pickle of " + held + ", which are no arguments of a trainer that is known",
                 "training_args.bin of transformers' Trainer is read; weights are as safetensors or GGUF");
}

/// Takes out what a file says is nothing: of a key itself, and of all below it.
void remove_nothing(const Node& table, const std::string& above, Settings& settings) {
  for (const Member& member : table.members) {
    const std::string key = above + member.key;
    if (member.value.kind == Node::Kind::table) remove_nothing(member.value, key + ".", settings);
    if (member.value.kind != Node::Kind::nothing) continue;
    std::erase_if(settings.all(), [&](const Setting& setting) { return (setting.key + ".").starts_with(key + "."); });
  }
}

Settings Reader::inherited(const Node& own, int depth) const {
  Settings said = flat(own);
  const Setting* named = said.find("defaults");
  const bool is_file = named != nullptr && named->items.empty() && named->text.ends_with(".yaml");
  const auto file = is_file && depth < most_files_deep ? find_(named->text) : std::nullopt;
  if (!file) return said;
  said.remove("defaults");
  Settings all = inherited(parse_settings(file->text, file->place), depth + 1);
  remove_nothing(own, "", all);
  all.put(said);
  return all;
}

std::optional<Reading> Reader::containers(const Node& node, std::string_view place) const {
  Files written = files_in(node);
  const FindFile find = beside(written, find_);
  const Reader reader(find, depth_);
  std::optional<Reading> first;
  const std::vector<LaunchCommand> all = containers_in(node, place, find);
  for (const LaunchCommand& launch : all) written.insert(launch.files.begin(), launch.files.end());
  for (const LaunchCommand& launch : all) {
    const ShellCommand command{launch.words, {}};
    if (!first) {
      first = CommandReader(reader, find, place).read(command, launch.launcher);
      if (first)
        for (const std::string& assumed : launch.assumed) first->assumptions.push_back({assumed});
    } else if (!is_replica(launch, all.front())) {
      name_further(command, place, *first, "the first");
    }
  }
  return first;
}

std::optional<Reading> Reader::task(const Node& node, std::string_view place) const {
  const auto found = task_of(node);
  if (!found) return std::nullopt;
  const FindFile find = [&](const std::string& path) -> std::optional<NamedFile> {
    for (const std::string& name : places_of(path, *found)) {
      if (auto file = find_(name)) return file;
    }
    return std::nullopt;
  };
  Reading reading = Reader(find, depth_).command(found->script, place, found->machines);
  for (auto& assumed : found->assumed) reading.assumptions.push_back({assumed});
  return reading;
}

Reading Reader::command(std::string_view text, std::string_view place) const { return command(text, place, {}); }

/// The text with `source FILE` replaced by what the file assigns, on that line.
std::string with_sourced(std::string_view text, const FindFile& find) {
  std::string all;
  while (!text.empty()) {
    const auto line = quantity::take_until(text, "\n");
    const auto trimmed = quantity::trim(line);
    const auto name = trimmed.starts_with(". ") ? trimmed.substr(2) : quantity::without_start(trimmed, "source ");
    const bool sources = name.size() < trimmed.size() && name.find_first_of(" $;&|") == name.npos;
    const auto file = sources ? find(std::string(name)) : std::nullopt;
    std::string_view rest = file ? std::string_view(file->text) : std::string_view();
    for (std::string_view each; take_line(rest, each);) {
      const auto assigned = quantity::without_start(each, "export ");
      const auto equals = assigned.find('=');
      if (equals != 0 && assigned.find_first_of(" (;") > equals) all.append(assigned).append("; ");
    }
    if (!file) all += line;
    all += '\n';
  }
  return all;
}

Reading Reader::command(std::string_view text, std::string_view place, const Settings& machines) const {
  Script script = parse_shell(with_sourced(text, find_), place);
  for (const ShellCommand& command : script.commands) script.files.merge(unwrapped(command, place).files);
  Settings job = slurm_settings(script.directives, place);
  job.put(machines);
  const FindFile find = beside(script.files, find_);
  const Reader reader(find, depth_);
  std::optional<Reading> first;
  ShellCommand asked;                  // that of the first
  bool created = false;                // a model from a Modelfile, which the next command runs
  std::optional<ShellCommand> server;  // `ollama serve`, in whose variables `ollama run` starts a model
  for (ShellCommand command : script.commands) {
    if (first && first->serves && starts_training(command, place)) {
      auto training = CommandReader(reader, find, place).read(command, job);
      if (!training) continue;
      name_further(asked, place, *training, "the training");
      first = std::move(training);
    } else if (first) {
      const bool runs_created = created && calls_ollama(command, "run");
      if (!runs_created) name_further(command, place, *first, "the first");
    } else if (calls_ollama(command, "serve")) {
      server = std::move(command);
    } else {
      created = calls_ollama(command, "create");
      if (server) command.environment.insert(server->environment.begin(), server->environment.end());
      first = CommandReader(reader, find, place).read(command, job);
      if (first) asked = std::move(command);
    }
  }
  if (!first && server) first = CommandReader(reader, find, place).read(*server, job);
  if (first) return *std::move(first);
  throw BadInput(std::string(place), "starts no trainer or server that is known", hint_beside(text));
}

std::optional<Reading> Reader::file_named(const std::string& path) const {
  const auto found = depth_ < most_files_deep ? find_(path) : std::nullopt;
  if (!found) return std::nullopt;
  return Reader(find_, depth_ + 1).file(found->text, found->place);
}

Reading read_launch_file(std::string_view text, std::string_view place, const FindFile& find) {
  return Reader(find).file(text, place);
}

Reading read_launch_command(std::string_view text, std::string_view place, const FindFile& find) {
  return Reader(find).command(text, place);
}

bool is_launch_command(std::string_view text) {
  if (text.find(' ') == text.npos) return false;
  try {
    const Script script = parse_shell(text, typed_place);
    return std::ranges::any_of(script.commands, [](const ShellCommand& command) {
      const LaunchCommand launch = unwrapped(command, typed_place);
      return launch.words.size() < command.words.size() || starter_of(launch.words).starter != nullptr;
    });
  } catch (const BadInput&) {
    return false;  // with a quote that is not closed it is a name or a path
  }
}

}  // namespace llmcalc::dialects
