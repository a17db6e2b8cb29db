
#include "dialects/shell/containers.hpp"

#include "dialects/shell/shell_reader.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <array>

namespace llmcalc::dialects {
namespace {

using Variable = std::function<void(const std::string& name, const Node& value)>;

void each_variable(const Node* node, const Variable& take) {
  if (node == nullptr) return;
  for (const auto& [name, value] : node->members) take(name, value);
  for (const Node& item : node->items) {
    const Node* name = item.find("name");
    const Node* value = item.find("value");
    if (name != nullptr && value != nullptr) take(name->text, *value);
    const auto equals = item.text.find('=');
    if (equals != std::string::npos) {
      Node rest = item;
      rest.text = item.text.substr(equals + 1);
      take(item.text.substr(0, equals), rest);
    }
  }
}

void each_variable(const Node& container, const Variable& take) {
  each_variable(container.find("environment"), take);
  each_variable(container.find("env"), take);
}

/// Kubernetes puts a container's variables in the place of "$(NAME)" (Define Environment Variables for a Container).
std::string with_variables(std::string text, const Node& container) {
  each_variable(container, [&](const std::string& name, const Node& value) {
    if (value.text.find("$(") == std::string::npos) text = with_value(text, "$(" + name + ")", value.text);
  });
  return text;
}

/// Compose puts the default in the place of "${NAME:-default}", in whatever quotes it stands (Interpolation).
std::string with_defaults(std::string_view text) {
  std::string all;
  for (auto at = text.find("${"); at != text.npos; at = text.find("${")) {
    const auto end = text.find('}', at);
    const auto inner = text.substr(at + 2, end == text.npos ? 0 : end - at - 2);
    const auto dash = inner.find('-');
    const auto name = quantity::without_end(inner.substr(0, dash), ":");
    const bool plain = dash != inner.npos && std::ranges::all_of(name, quantity::is_name_char) &&
                       inner.find('$') == inner.npos && all.size() < largest_settings;
    all.append(text.substr(0, at)).append(plain ? inner.substr(dash + 1) : "${");
    text.remove_prefix(plain ? end + 1 : at + 2);
  }
  return all.append(text);
}

/// A word in double quotes, in which a shell expands variables alone.
std::string in_double_quotes(std::string_view word) {
  std::string quoted = "\"";
  for (const char c : word) {
    if (c == '"' || c == '\\' || c == '`') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

/// Items of a command: a list of words, or a line for a shell.
void add_words(const Node& container, std::string_view key, std::string_view place, std::vector<ShellWord>& words) {
  const Node* node = container.find(key);
  if (node == nullptr) return;
  const auto add = [&](const Node& from, bool one_word) {
    std::string text = with_variables(from.text, container);
    const bool is_script = words.size() == 2 && words[1].text.starts_with("-") && words[1].text.ends_with("c");
    if (!is_script) text = with_defaults(text);
    const bool expands = text.find('$') != std::string::npos;
    if (one_word && (!expands || is_script)) {
      words.push_back({text, line_of(from.where), {}});
      return;
    }
    for (auto& command : parse_shell(one_word ? in_double_quotes(text) : text, place).commands) {
      for (auto& word : command.words)
        words.push_back({std::move(word.text), line_of(from.where), std::move(word.unknown)});
    }
  };
  for (const Node& item : node->items) add(item, true);
  if (node->kind == Node::Kind::value) add(*node, false);
}

/// "2", "device=0,1", "'\"device=0,1\"'"; "all" says nothing.
std::string count_of(std::string text) {
  std::erase_if(text, [](char c) { return c == '"' || c == '\''; });
  if (text.starts_with("device=")) return std::to_string(1 + std::ranges::count(text, ','));
  return quantity::is_number(text) ? text : std::string();
}

/// Programs that images run where nothing else is said, by a part of their names.
struct Image {
  std::string_view name;
  std::string_view program;
  bool tells_release = false;  ///< by its tag
};

constexpr Image images[] = {
#include "dialects/images.inc"
};

/// Options of docker run that take no value (docs.docker.com/reference/cli/docker/container/run).
constexpr std::string_view bare_options[] = {"--detach", "--rm", "--init", "--tty", "--privileged", "--interactive"};

/// "-itd" is three of one letter.
bool is_bare(std::string_view option) {
  const bool letters = option.size() > 1 && option.find_first_not_of("dit", 1) == option.npos;
  return letters || quantity::contains(bare_options, option);
}

std::vector<ShellWord> words_of(std::string_view text, int line) {
  const auto word = [&](std::string_view piece) { return ShellWord{std::string(piece), line, {}}; };
  return quantity::mapped(quantity::pieces_of(text, " "), word);
}

/// "v0.7.2" behind the colon is a release, and so it is in "vllm-openai_v0.7.2.sif"; "latest" is none.
std::string version_of(const std::string& image) {
  auto at = image.rfind(':');
  if (at == std::string::npos) at = image.rfind("_v");
  if (at == std::string::npos) at = image.rfind("-v");
  if (at == std::string::npos) return {};
  std::string tag = image.substr(at + 1);
  if (tag.starts_with('v')) tag.erase(0, 1);
  if (tag.empty() || !quantity::is_digit(tag.front()) || tag.find('.') == std::string::npos) return {};
  tag = quantity::without_end(tag.substr(0, tag.find_first_of("-_+")), ".sif");
  const bool is_release = std::ranges::all_of(tag, [](char c) { return quantity::is_name_char(c) || c == '.'; });
  const bool is_month = tag.find('.') == 2 && tag.size() == 5 && tag.front() != '0';  // "25.11" of NVIDIA's containers
  return is_release && !is_month ? tag : std::string();
}

/// "NAME=value" as a variable of the container.
void put_variable(std::string_view text, const std::string& where, Settings& options) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return;
  const std::string value(text.substr(equals + 1));
  options.put({"environment." + std::string(text.substr(0, equals)), value, {}, where, {}});
}

/// A word that is the folder under which a container sees another, "HOST:PATH" or "HOST:PATH:ro", is that one: a
/// model's name stands there.
void take_mount(std::string_view mount, std::vector<ShellWord>& words) {
  const auto host = quantity::without_end(quantity::take_until(mount, ":"), "/");
  const auto path = quantity::without_end(quantity::take_until(mount, ":"), "/");
  constexpr std::size_t most_words = 1'000;  // of any command that somebody typed
  const bool names_folder = host.find('/') != host.npos && host.find_first_of("$`(") == host.npos;
  if (path.empty() || !names_folder || words.size() > most_words) return;
  for (ShellWord& word : words) {
    const auto equals = word.text.starts_with('-') ? word.text.find('=') : std::string::npos;
    const auto at = equals == std::string::npos ? 0 : equals + 1;
    if (quantity::without_end(std::string_view(word.text).substr(at), "/") == path)
      word.text.replace(at, path.size(), host);
  }
}

/// The value behind "=", or the next word, which is taken with it.
std::string docker_value(const std::vector<ShellWord>& words, std::size_t flag_size, std::size_t& at) {
  const std::string& text = words[at].text;
  if (flag_size < text.size()) return text.substr(flag_size + 1);
  return is_bare(text) || at + 1 >= words.size() ? std::string() : words[++at].text;
}

/// One more of the Container Device Interface, "nvidia.com/gpu=1"; "all" says nothing.
void add_device(std::string_view value, const std::string& where, Settings& options) {
  const Setting* before = options.find("container.gpus");
  if (!quantity::is_number(value.substr(value.find('=') + 1))) return;
  std::string_view said = before == nullptr ? "0" : std::string_view(before->text);
  const auto count = quantity::take_number<std::int64_t>(said);
  constexpr std::int64_t most = 1'000'000;  // so many are refused where they are counted
  if (count && *count < most) options.put({"container.gpus", std::to_string(*count + 1), {}, where, {}});
}

void take_docker_option(const std::vector<ShellWord>& words, std::string_view place, std::size_t& at,
                        Settings& options) {
  const std::string flag = words[at].text.substr(0, words[at].text.find('='));
  const std::string where = place_of(place, words[at], flag);
  const std::string value = docker_value(words, flag.size(), at);
  if (flag == "-e" || flag == "--env") put_variable(value, where, options);
  if (flag == "--entrypoint") options.put({"entrypoint", value, {}, where, {}});
  if (flag == "-v" || flag == "--volume") options.put({"mount:" + value, value, {}, where, {}});
  if (flag == "--gpus") options.put({"container.gpus", count_of(value), {}, where, {}});
  if (flag == "--device" && value.starts_with("nvidia.com/gpu=")) add_device(value, where, options);
  ++at;
}

}  // namespace

const Node* below(const Node* node, std::initializer_list<std::string_view> keys) {
  for (const auto key : keys) node = node == nullptr ? nullptr : node->find(key);
  return node;
}

std::string with_value(std::string_view text, std::string_view reference, std::string_view value) {
  std::string all;
  for (auto at = text.find(reference); at != text.npos && all.size() < largest_settings; at = text.find(reference)) {
    all.append(text.substr(0, at)).append(value);
    text.remove_prefix(at + reference.size());
  }
  return all.append(text);
}

std::string assignment(std::string_view name, std::string_view value, char end) {
  const bool plain = !name.empty() && std::ranges::all_of(name, quantity::is_name_char) && !quantity::is_digit(name[0]);
  if (!plain || value.find_first_of("'\n") != value.npos) return {};
  return std::string(name).append("='").append(value).append("'") + end;
}

std::string assignments(const Node& container, char end) {
  std::string text;
  each_variable(container,
                [&](const std::string& name, const Node& value) { text += assignment(name, value.text, end); });
  return text;
}

int line_of(const std::string& where) {
  const auto colon = where.rfind(':');
  auto line = std::string_view(where).substr(colon == std::string::npos ? where.size() : colon + 1);
  return quantity::take_number<int>(line).value_or(0);
}

void add_words(LaunchCommand& launch, const Node& because, std::initializer_list<std::string_view> words) {
  for (const auto word : words) launch.words.push_back({std::string(word), line_of(because.where), {}});
}

void put(LaunchCommand& launch, std::string_view key, std::string text, const std::string& where) {
  if (!text.empty()) launch.launcher.put({std::string(key), std::move(text), {}, where, {}});
}

LaunchCommand container_words(const Node& container, std::string_view place) {
  std::vector<ShellWord> words;
  for (const auto key : {"entrypoint", "command"}) add_words(container, key, place, words);
  add_words(container, "args", place, words);
  if (const Node* volumes = container.find("volumes")) {  // of compose: Kubernetes' containers name theirs
    for (const Node& volume : volumes->items) take_mount(with_defaults(volume.text), words);
  }
  const bool script = words.size() >= 3 && base_name(words[0].text).ends_with("sh") && words[1].text.starts_with("-");
  if (script) words[2].text = assignments(container, ';') + words[2].text;
  return without_shell(std::move(words), place);
}

void take_variables(const Node& container, LaunchCommand& launch) {
  each_variable(container, [&](const std::string& name, const Node& value) {
    put(launch, "environment." + name, value.text, value.where);
  });
}

void take_accelerators(const Node& container, LaunchCommand& launch) {
  constexpr std::array<std::string_view, 3> whole_cards{"nvidia.com/gpu", "amd.com/gpu", "google.com/tpu"};
  for (const auto holder : {"resources", "resourcesPerNode"}) {
    for (const auto amount : {"requests", "limits"}) {
      const Node* resources = below(&container, {holder, amount});
      for (const auto& [name, count] : resources == nullptr ? std::vector<Member>() : resources->members) {
        const bool is_slice = name.starts_with("nvidia.com/mig-");
        if (is_slice) put(launch, "container.gpu", name, count.where);
        if (is_slice || quantity::contains(whole_cards, name))
          put(launch, "container.gpus", count_of(count.text), count.where);
      }
    }
  }
  const Node* devices = below(&container, {"deploy", "resources", "reservations", "devices"});
  if (devices == nullptr) return;
  for (const Node& device : devices->items) {
    if (const Node* count = device.find("count")) put(launch, "container.gpus", count_of(count->text), count->where);
    if (const Node* ids = device.find("device_ids")) {
      std::size_t count = ids->items.size();  // one of them may be a list in itself, '0,1'
      for (const Node& id : ids->items) count += static_cast<std::size_t>(std::ranges::count(id.text, ','));
      put(launch, "container.gpus", std::to_string(count), ids->where);
    }
  }
}

LaunchCommand container_launch(const ShellWord& image, LaunchCommand given, std::string_view place) {
  const auto* known = quantity::find_if_or_null(
      images, [&](const Image& each) { return image.text.find(each.name) != std::string::npos; });
  const auto& words = given.words;
  const bool is_program = !words.empty() && words.front().unknown.empty() && !words.front().text.starts_with('-') &&
                          words.front().text.find('/') == std::string::npos;
  const bool named = !words.empty() && (is_program || words.front().text.starts_with("/"));
  if (known != nullptr && !named) {
    const auto program = words_of(known->program, image.line);
    given.words.insert(given.words.begin(), program.begin(), program.end());
  }
  if (known != nullptr && known->tells_release)
    put(given, "container.version", version_of(image.text), place_of(place, image, image.text));
  return given;
}

LaunchCommand without_shell(std::vector<ShellWord> words, std::string_view place) {
  LaunchCommand launch{std::move(words), {}};
  const auto& said = launch.words;
  if (said.size() < 3 || !base_name(said[0].text).ends_with("sh") || !said[1].text.starts_with("-")) return launch;
  const int line = said[2].line;
  auto script = parse_shell(said[2].text, place);
  if (script.commands.empty()) return launch;
  const auto is_known = [&](const ShellCommand& command) {
    return starter_of(unwrapped(command, place).words).starter != nullptr;
  };
  const auto known = std::find_if(script.commands.rbegin(), script.commands.rend(), is_known);
  launch.words = std::move((known == script.commands.rend() ? script.commands.back() : *known).words);
  for (auto& word : launch.words) word.line = line;
  launch.files = std::move(script.files);
  return launch;
}

LaunchCommand docker_launch(const std::vector<ShellWord>& words, std::size_t from, std::string_view place) {
  Settings options;
  std::size_t at = from;
  while (at < words.size() && words[at].text.starts_with('-')) take_docker_option(words, place, at, options);
  if (at >= words.size()) return {};
  std::vector<ShellWord> inner(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
  constexpr std::string_view variable = "environment.";
  const auto is_mount = [](const Setting& option) { return option.key.starts_with("mount:"); };
  for (const Setting& option : options.all()) {
    if (is_mount(option)) take_mount(option.text, inner);
  }
  const Setting* entry = options.find("entrypoint");
  if (entry != nullptr && !entry->text.empty()) inner.insert(inner.begin(), {entry->text, words[at].line, {}});
  const bool script = inner.size() >= 3 && base_name(inner[0].text).ends_with("sh") && inner[1].text.starts_with("-");
  for (const Setting& option : options.all()) {
    if (script && option.key.starts_with(variable))
      inner[2].text.insert(0, assignment(option.key.substr(variable.size()), option.text, ';'));
  }
  LaunchCommand launch = container_launch(words[at], {std::move(inner), {}}, place);
  for (const Setting& option : options.all()) {
    if (!option.text.empty() && option.key != "entrypoint" && !is_mount(option)) launch.launcher.put(option);
  }
  return launch;
}

}  // namespace llmcalc::dialects
