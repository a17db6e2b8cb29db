
#include "dialects/shell/containers.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"
#include "quantity/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::dialects {
namespace {

bool is_number(std::string_view text) { return text.size() > 1 && (quantity::is_digit(text[1]) || text[1] == '.'); }

bool is_option(std::string_view text) { return text.starts_with('-') && text.size() > 1 && !is_number(text); }

std::string_view without_dashes(std::string_view text) {
  while (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return text;
}

/// "python3.11" is "python", "/usr/bin/torchrun" is "torchrun".
std::string_view program_name(std::string_view path) {
  const auto name = base_name(path);
  return name.starts_with("python") ? name.substr(0, 6) : name;
}

/// How many words of a command a launcher's name is; 0 where it is another's.
std::size_t matched(std::string_view name, const std::vector<ShellWord>& words, std::size_t from) {
  std::size_t count = 0;
  while (!name.empty()) {
    if (from + count >= words.size()) return 0;
    if (program_name(words[from + count].text) != quantity::take_until(name, " ")) return 0;
    ++count;
  }
  return count;
}

/// Whether a word can only be a variable in front of a command, NAME=value, or one of Hydra's, +key=value.
bool is_assignment(std::string_view text) {
  while (text.starts_with('+')) text.remove_prefix(1);
  const auto is_of_name = [](char c) { return quantity::is_name_char(c) || c == '.'; };
  const auto equals = text.find('=');
  return equals != text.npos && equals > 0 && std::ranges::all_of(text.substr(0, equals), is_of_name);
}

/// Takes a launcher's own options, up to what it starts.
void skip_options(const Launcher& launcher, const std::vector<ShellWord>& words, std::string_view place,
                  std::size_t& at, Settings& settings) {
  while (at < words.size()) {
    const std::string& text = words[at].text;
    if (!launcher.starts_script && is_assignment(text)) {
      ++at;
      continue;
    }
    if (text == "--") ++at;
    if (text == "--" || !is_option(text)) return;
    const auto flag = text.substr(0, text.find('='));
    const std::string name = with_underscores(without_dashes(flag));
    if (launcher.starts_script && (name == "m" || name == "module")) return;
    Setting setting{std::string(launcher.alias) + "." + name, "true", {}, place_of(place, words[at], flag), {}};
    const bool bare = quantity::contains(quantity::pieces_of(launcher.switches, " "), std::string_view(name));
    if (flag.size() < text.size()) {
      setting.text = text.substr(flag.size() + 1);
      setting.unknown = words[at].unknown;
    } else if (!bare && at + 1 < words.size()) {
      setting.text = words[++at].text;
      setting.unknown = words[at].unknown;
    }
    settings.put(std::move(setting));
    ++at;
  }
}

/// Variables that say how many processes there are, as settings of their own.
void take_environment(const ShellCommand& command, std::string_view place, Settings& settings) {
  for (const auto& [name, value] : command.environment) {
    settings.put({"environment." + name, value.text, {}, place_of(place, value, name), value.unknown});
  }
}

/// A container that starts containers that start containers is nobody's.
constexpr int most_containers_deep = 4;

LaunchCommand unwrapped(const ShellCommand& command, std::string_view place, int depth);

/// A program in a container may have launchers of its own in front.
LaunchCommand within(LaunchCommand container, std::string_view place, int depth) {
  if (depth >= most_containers_deep) {
    throw quantity::BadInput(std::string(place), fmt::format("starts containers within containers, more than {} deep",
                                                             most_containers_deep));
  }
  LaunchCommand inner = unwrapped({std::move(container.words), {}}, place, depth + 1);
  inner.launcher.put(container.launcher);
  inner.files.merge(container.files);
  return inner;
}

/// Resources said around a container count where the container itself says nothing.
void add_around(const Settings& around, LaunchCommand& container) {
  for (const Setting& setting : around.all()) {
    if (!container.launcher.has(setting.key)) container.launcher.put(setting);
  }
}

/// An image with the arguments of what it runs, behind the name of its instance where that has one.
LaunchCommand of_image(LaunchCommand launch, bool named, std::string_view place) {
  const ShellWord image = launch.words.front();
  const auto skipped = std::min<std::size_t>(named ? 2 : 1, launch.words.size());
  launch.words.erase(launch.words.begin(), launch.words.begin() + static_cast<std::ptrdiff_t>(skipped));
  LaunchCommand container = container_launch(image, {std::move(launch.words), {}}, place);
  add_around(launch.launcher, container);
  return container;
}

/// "bash -c 'text'", or "-lc" with other switches before it.
bool runs_text(const std::vector<ShellWord>& words) {
  return words.size() == 3 && words[1].text.starts_with('-') && words[1].text.ends_with('c') &&
         (program_name(words[0].text) == "bash" || program_name(words[0].text) == "sh");
}

/// The text that xpk hands to a shell of each machine (xpk workload create --command).
std::optional<ShellWord> text_of_command(const std::vector<ShellWord>& words) {
  constexpr std::string_view flag = "--command";
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (words[at].text == flag && at + 1 < words.size()) return words[at + 1];
    if (!words[at].text.starts_with(flag) || !words[at].text.substr(flag.size()).starts_with('=')) continue;
    ShellWord word = words[at];
    word.text.erase(0, flag.size() + 1);
    for (ShellGap& gap : word.gaps) gap.at -= std::min(gap.at, flag.size() + 1);
    return word;
  }
  return std::nullopt;
}

/// "4x4x4" of a torus of TPUs; nothing where it is none.
std::int64_t chips_of(std::string_view topology) {
  std::int64_t product = topology.find('x') == topology.npos ? 0 : 1;
  for (const auto side : quantity::pieces_of(topology, "x")) {
    if (!quantity::is_number(side)) return 0;
    product = quantity::checked_multiply(product, quantity::parse_count(side, {}));
  }
  return product;
}

/// "v5p-256" says how many chips it is (presets/vocabulary/instances.rows), "h100-80gb-8" a machine's cards,
/// "tpu7x-4x4x4" a torus', which may stand apart.
void take_workload(Settings& launcher) {
  const auto said = [&](std::initializer_list<std::string_view> keys) {
    const auto is_said = [&](std::string_view key) { return launcher.has(key); };
    const auto* key = std::ranges::find_if(keys, is_said);
    return key == keys.end() ? nullptr : launcher.find(*key);
  };
  const Setting* named = said({"xpk.tpu_type", "xpk.device_type", "xpk.compute_type"});
  if (named == nullptr) return;
  const Setting type = *named;
  const Setting* found = said({"xpk.num_slices", "xpk.num_nodes"});
  const Setting count = found == nullptr ? Setting{{}, "1", {}, type.where, {}} : *found;
  if (!type.unknown.empty() || !count.unknown.empty()) return;  // --gpu says it
  const std::string_view behind = std::string_view(type.text).substr(type.text.rfind('-') + 1);
  const Setting* apart = launcher.find("xpk.topology");
  const auto chips = chips_of(apart == nullptr ? behind : apart->text);
  const auto name = chips > 0 && apart == nullptr ? type.text.substr(0, type.text.rfind('-')) : type.text;
  const std::string gpu(gpu_of_label("accelerator", name));
  if (gpu.empty()) return launcher.say("slurm.gpu", type.text + ":" + count.text, type);
  launcher.say("slurm.nodes", count.text, count);
  launcher.say("slurm.gpu", gpu, type);
  launcher.say("slurm.gpus_per_node", chips > 0 ? std::to_string(chips) : std::string(behind), type);
}

/// Takes off a command what stands around the program that it runs, from the front on.
class Unwrapper {
 public:
  Unwrapper(const ShellCommand& command, std::string_view place, int depth)
      : words_(command.words), place_(place), depth_(depth) {
    take_environment(command, place, launch_.launcher);
  }

  LaunchCommand unwrap() {
    while (true) {
      if (auto container = of_docker()) return within(std::move(*container), place_, depth_);
      const Launcher* launcher = next_launcher();
      if (launcher == nullptr) break;
      const bool named = launcher->behind == Behind::named;
      if (at_ < words_.size() && (named || launcher->behind == Behind::image)) {
        launch_.words = rest();
        return within(of_image(std::move(launch_), named, place_), place_, depth_);
      }
    }
    auto left = rest();
    const bool types = launch_.launcher.has("tmux.s") || launch_.launcher.has("tmux.t") || left.size() == 1;
    if (types && at_ > 0 && !left.empty() && left[0].text.find(' ') != std::string::npos) {
      left = {{"bash", left[0].line}, {"-c", left[0].line}, left[0]};
    }
    if (auto text = launch_.launcher.has("xpk.command") ? text_of_command(words_) : std::nullopt) {
      take_workload(launch_.launcher);
      left = {{"bash", text->line}, {"-c", text->line}, *std::move(text)};
    }
    if (!runs_text(left)) return program();
    LaunchCommand text = without_shell({left[0], left[1], {with_gaps(left[2]), left[2].line}}, place_);
    text.launcher.put(launch_.launcher);
    return within(std::move(text), place_, depth_);
  }

 private:
  std::vector<ShellWord> rest() const { return {words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end()}; }

  std::optional<LaunchCommand> of_docker() const {
    for (const auto docker : {"docker run", "podman run"}) {
      const auto length = matched(docker, words_, at_);
      if (length == 0) continue;
      LaunchCommand container = docker_launch(words_, at_ + length, place_);
      add_around(launch_.launcher, container);
      return container;
    }
    return std::nullopt;
  }

  /// Past the launcher that comes next, its options and its own word; null where the program comes.
  const Launcher* next_launcher() {
    for (const Launcher& launcher : launchers()) {
      const auto length = matched(launcher.name, words_, at_);
      if (length == 0) continue;
      const auto begin = words_.begin() + static_cast<std::ptrdiff_t>(at_);
      if (launcher.is_program) name_.assign(begin, begin + static_cast<std::ptrdiff_t>(length));
      at_ += length;
      skip_options(launcher, words_, place_, at_, launch_.launcher);
      if (launcher.behind == Behind::word && at_ < words_.size()) ++at_;
      return &launcher;
    }
    return nullptr;
  }

  /// "sh llama-server", "entrypoint.sh vllm serve", "$PYTHON -m module": a shell, a script that runs what it is handed,
  /// or what nobody knows in front of what everybody does.
  bool hands_on() const {
    if (at_ + 1 >= words_.size()) return false;
    const auto name = program_name(words_[at_].text);
    const bool is_script = name.empty() || name.ends_with(".sh") || name == "bash" || name == "sh";
    const std::size_t more = name.empty() && words_[at_ + 1].text == "-m" ? 2 : 1;
    const auto starts = [&](std::size_t from) {
      return starter_of({words_.begin() + static_cast<std::ptrdiff_t>(from), words_.end()}).starter != nullptr;
    };
    return is_script && at_ + more < words_.size() && !starts(at_) && starts(at_ + more);
  }

  /// The words that are left, without the interpreter.
  LaunchCommand program() {
    if (hands_on()) ++at_;
    if (at_ < words_.size() && program_name(words_[at_].text) == "python") {
      ++at_;
      while (at_ < words_.size() && is_option(words_[at_].text) && words_[at_].text != "-m") ++at_;
    }
    if (at_ < words_.size() && (words_[at_].text == "-m" || words_[at_].text == "--module")) ++at_;
    launch_.words = name_;
    launch_.words.insert(launch_.words.end(), words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end());
    return std::move(launch_);
  }

  const std::vector<ShellWord>& words_;
  std::string_view place_;
  int depth_;
  std::size_t at_ = 0;
  std::vector<ShellWord> name_;  ///< of a launcher that is itself the program
  LaunchCommand launch_;
};

LaunchCommand unwrapped(const ShellCommand& command, std::string_view place, int depth) {
  return Unwrapper(command, place, depth).unwrap();
}

/// Behind a value, a variable that nobody set may hold options, or nothing.
bool is_value(const ShellWord& word, bool is_first) {
  const bool holds_any = !word.text.empty() || word.unknown.empty();
  return !is_option(word.text) && (is_first || (holds_any && !is_assignment(word.text)));
}

/// The values behind an option, of which there may be several; without any it is a switch.
void take_values(const std::vector<ShellWord>& words, std::size_t& at, Setting& setting) {
  while (at + 1 < words.size() && is_value(words[at + 1], setting.items.empty())) {
    const ShellWord& value = words[++at];
    setting.items.push_back(value.text);
    if (value.unknown.empty()) continue;
    setting.unknown = value.unknown;
    setting.in_folder = ends_known(value);
  }
  setting.text = setting.items.empty() ? "true" : quantity::joined(setting.items, ",");
  if (setting.items.size() < 2) setting.items.clear();
}

}  // namespace

std::string_view base_name(std::string_view path) {
  return quantity::without_end(path.substr(path.rfind('/') + 1), ".exe");
}

std::string place_of(std::string_view place, const ShellWord& word, std::string_view flag) {
  if (place == typed_place) return fmt::format("{} {}", place, flag);
  return fmt::format("{}:{}", place, word.line);
}

LaunchCommand unwrapped(const ShellCommand& command, std::string_view place) { return unwrapped(command, place, 0); }

Options options_of(const std::vector<ShellWord>& words, std::size_t from, std::string_view place) {
  Options options;
  for (std::size_t at = from; at < words.size(); ++at) {
    const ShellWord& word = words[at];
    if (!is_option(word.text) && !is_assignment(word.text)) {
      options.positional.push_back(word);
      continue;
    }
    const auto equals = word.text.find('=');
    const std::string flag = word.text.substr(0, equals);
    Setting setting{with_underscores(without_dashes(flag)), {}, {}, place_of(place, word, flag), word.unknown};
    if (equals == std::string::npos) take_values(words, at, setting);
    if (equals != std::string::npos) {
      setting.text = word.text.substr(equals + 1);
      setting.in_folder = ends_known(word);
    }
    options.settings.put(std::move(setting));
  }
  return options;
}

}  // namespace llmcalc::dialects
