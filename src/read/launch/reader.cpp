#include "read/launch/reader.hpp"

#include "llmcalc/quantity/error.hpp"
#include "llmcalc/quantity/text.hpp"
#include "read/launch/formats.hpp"
#include "read/launch/model_files.hpp"
#include "read/launch/python.hpp"
#include "read/servers/modelfile.hpp"
#include "read/shell/command.hpp"
#include "read/shell/containers.hpp"
#include "read/shell/launcher_words.hpp"
#include "read/shell/slurm.hpp"
#include "read/shell/starters.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace llmcalc::read {
namespace {

using quantity::BadInput;

/// Files that name each other in a circle end here.
constexpr int most_files_deep = 4;

constexpr std::string_view known_things =
    "known are files of axolotl, LLaMA-Factory, trl, transformers, accelerate, DeepSpeed, ms-swift, torchtitan, "
    "torchtune "
    "and Megatron-LM, commands and scripts that start them or a server, GGUF, safetensors and model folders";

/// TOML has tables in brackets on lines of their own and '=' behind its keys.
bool looks_like_toml(std::string_view text) {
  bool table = false;
  bool equals = false;
  while (!text.empty()) {
    auto line = quantity::trim(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.find('\n') + 1 == 0 ? text.size() : text.find('\n') + 1, text.size()));
    if (line.starts_with('#')) continue;
    table = table || (line.starts_with('[') && line.ends_with(']') && line.find_first_of(",'\" ") == line.npos);
    equals = equals || line.find(" = ") != line.npos;
  }
  return table && equals;
}

bool looks_like_shell(std::string_view text) { return text.starts_with("#!") || text.find("#SBATCH") != text.npos; }

/// "{key: value}", which is YAML: keys of JSON are in quotes.
bool is_flow_of_yaml(std::string_view body) {
  if (!body.starts_with('{')) return false;
  const auto first = quantity::trim(body.substr(1));
  return !first.empty() && std::isalpha(static_cast<unsigned char>(first.front())) != 0;
}

/// A file's settings, whatever it is written in; no table where it is in none of those ways.
Node parse_settings(std::string_view text, std::string_view place) {
  const auto body = quantity::trim(text);
  if (is_flow_of_yaml(body)) return parse_yaml(text, place);
  if (body.starts_with('{') || body.starts_with("//")) return parse_commented_json(text, place);
  if (looks_like_toml(text)) return parse_toml(text, place);
  return parse_yaml(text, place);
}

const Format* format_of(const Settings& settings) {
  for (const Format* format : file_formats()) {
    if (format->recognizes(settings)) return format;
  }
  return nullptr;
}

/// Settings of a file below those of a command line.
Settings united(Settings below, const Settings& above) {
  for (const Setting& setting : above.all()) below.put(setting);
  return below;
}

bool is_settings_file(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json") || name.ends_with(".toml");
}

bool is_ollama_server(const ShellCommand& command) {
  return command.words.size() >= 2 && base_name(command.words[0].text) == "ollama" && command.words[1].text == "serve";
}

/// Of several programs that a file starts the first is asked about, and the others are named.
void name_further(const std::vector<ShellWord>& words, std::string_view place, Reading& first) {
  const Started started = starter_of(words);
  if (started.starter == nullptr) return;
  const std::string where = place_of(place, words.front(), words.front().text);
  first.assumptions.push_back(std::string(started.starter->name) + " (" + where +
                              ") is started as well: the first is asked about");
}

/// Reads the command that a script or a person's line starts.
class CommandReader {
 public:
  CommandReader(const Reader& reader, const FindFile& find, std::string_view place)
      : reader_(reader), find_(find), place_(place) {}

  std::optional<Reading> read(const ShellCommand& command, const Settings& job = {}) {
    LaunchCommand launch = unwrapped(command, place_);
    for (const Setting& setting : job.all()) launch.launcher.put(setting);
    return read(launch);
  }

  std::optional<Reading> read(const LaunchCommand& launch) {
    const Started started = starter_of(launch.words);
    Options options = options_of(launch.words, started.starter == nullptr ? 1 : started.words, place_);
    const Format* format = started.starter == nullptr ? format_of(options.settings) : &started.starter->format();
    if (format == nullptr || launch.words.empty()) return std::nullopt;

    std::vector<Reading> readings;
    Reading processes;
    take_processes(launch.launcher, processes);
    readings.push_back(std::move(processes));
    take_accelerate(launch, readings);
    const std::string_view key = started.starter == nullptr ? "config" : started.starter->config;
    Settings settings = with_file(std::move(options), key);
    if (started.starter != nullptr && !started.starter->algorithm.empty()) {
      const ShellWord& program = launch.words.front();
      settings.put(
          {"algorithm", std::string(started.starter->algorithm), {}, place_of(place_, program, program.text), {}});
    }
    for (const Setting& setting : launch.launcher.all()) add_variable(setting, settings);
    readings.push_back(reader_.settings(*format, settings, place_));
    Reading all = merge(std::move(readings));
    take_machines(launch.launcher, all);
    all.kind = std::string(format->name);
    all.place = place_;
    all.assumptions.insert(all.assumptions.end(), assumptions_.begin(), assumptions_.end());
    return all;
  }

 private:
  /// LLAMA_ARG_CTX_SIZE is --ctx-size, where that is not said; Ollama has variables alone.
  static void add_variable(const Setting& variable, Settings& settings) {
    for (const std::string_view prefix : {"environment.LLAMA_ARG_", "environment.OLLAMA_"}) {
      if (!variable.key.starts_with(prefix)) continue;
      Setting setting = variable;
      setting.key = quantity::to_lower(std::string_view(variable.key).substr(prefix.size()));
      if (!settings.has(setting.key)) settings.put(std::move(setting));
    }
  }

  void take_accelerate(const LaunchCommand& launch, std::vector<Reading>& readings) const {
    Settings settings = accelerate_settings(launch.launcher);
    const Setting* file = settings.find("config_file");
    if (file != nullptr) {
      if (auto reading = reader_.file_named(file->text)) {
        readings.push_back(*std::move(reading));
      } else {
        Reading missing;
        missing.assumptions.push_back(file->where + " " + file->text + " was not read: say --from " + file->text);
        readings.push_back(std::move(missing));
      }
      settings.remove("config_file");
    }
    if (!settings.all().empty()) readings.push_back(reader_.settings(accelerate_format(), settings, place_));
  }

  /// The options with those of the file below them that one of them, or a word by itself, names.
  Settings with_file(Options options, std::string_view key) {
    std::vector<Settings> files;
    if (const Setting* named = key.empty() ? nullptr : options.settings.find(key)) {
      add_file(named->text, named->where, files);
      options.settings.remove(key);
    }
    std::size_t count = 0;
    for (const ShellWord& word : options.positional) {
      if (!word.unknown.empty()) {
        assumptions_.push_back(word.unknown + " (" + place_of(place_, word, word.unknown) +
                               ") is not known: options in it are not read");
      } else if (key.empty() && is_settings_file(word.text)) {
        add_file(word.text, place_of(place_, word, word.text), files);
      } else {
        const std::string name = "positional." + std::to_string(count++);
        options.settings.put({name, word.text, {}, place_of(place_, word, word.text), {}});
      }
    }
    Settings all;
    for (const Settings& file : files) all = united(std::move(all), file);
    all = united(std::move(all), options.settings);
    interpolate(all);
    return all;
  }

  void add_file(const std::string& path, const std::string& where, std::vector<Settings>& files) {
    if (const auto file = find_(path)) {
      files.push_back(flat(parse_settings(file->text, file->place)));
    } else {
      assumptions_.push_back(path + " (" + where +
                             ") was not read: it is not there, or not in the folder; say --from " + path);
    }
  }

  const Reader& reader_;
  const FindFile& find_;
  std::string place_;
  std::vector<std::string> assumptions_;
};

}  // namespace

Reading Reader::settings(const Format& format, const Settings& written, std::string_view place) const {
  Settings settings = written;
  if (format.rename != nullptr) format.rename(settings);
  Reading reading;
  reading.kind = format.name;
  reading.place = place;
  reading.serves = format.serves;
  Sheet sheet(settings, reading, *this);
  if (!format.framework.empty()) {
    sheet.by_default(format.serves ? "engine" : "framework", std::string(format.framework), format.name);
  }
  apply(format, sheet);
  std::vector<Reading> all = sheet.take_included();
  if (all.empty()) return reading;
  all.push_back(std::move(reading));
  return merge(std::move(all));
}

Reading Reader::file(std::string_view text, std::string_view place) const {
  refuse_large(text, place);
  refuse_python(text, place);
  if (looks_like_shell(text)) return command(text, place);
  if (const auto modelfile = parse_modelfile(text, place)) return settings(modelfile_format(), *modelfile, place);
  const Node node = parse_settings(text, place);
  std::optional<Reading> first;
  for (const LaunchCommand& launch : containers_in(node, place)) {
    const ShellCommand command{launch.words, {}};
    if (first) {
      name_further(unwrapped(command, place).words, place, *first);
    } else {
      first = CommandReader(*this, find_, place).read(command, launch.launcher);
    }
  }
  if (first) return *std::move(first);
  if (node.kind != Node::Kind::table) return command(text, place);
  if (auto model = model_file(node, text, place)) return *std::move(model);
  Settings settings = flat(node);
  interpolate(settings);
  const Format* format = format_of(settings);
  if (format != nullptr) return this->settings(*format, settings, place);
  throw BadInput(std::string(place), "is a file of settings that no known trainer or server has",
                 std::string(known_things));
}

Reading Reader::command(std::string_view text, std::string_view place) const {
  const Script script = parse_shell(text, place);
  const Settings job = slurm_settings(script.directives, place);
  const FindFile find = [&](const std::string& path) -> std::optional<NamedFile> {
    const auto written = script.files.find(path);
    return written == script.files.end() ? find_(path) : NamedFile{path, written->second};
  };
  const Reader reader(find, depth_);
  std::optional<Reading> first;
  std::optional<ShellCommand> server;  // `ollama serve`, in whose variables `ollama run` starts a model
  for (ShellCommand command : script.commands) {
    if (first) {
      name_further(unwrapped(command, place).words, place, *first);
    } else if (is_ollama_server(command)) {
      server = std::move(command);
    } else {
      if (server) command.environment.insert(server->environment.begin(), server->environment.end());
      first = CommandReader(reader, find, place).read(command, job);
    }
  }
  if (!first && server) first = CommandReader(reader, find, place).read(*server, job);
  if (first) return *std::move(first);
  throw BadInput(std::string(place), "starts no trainer or server that is known", std::string(known_things));
}

std::optional<Reading> Reader::file_named(const std::string& path) const {
  if (depth_ >= most_files_deep) return std::nullopt;
  const auto found = find_(path);
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

}  // namespace llmcalc::read
