#include "dialects/shell/container_words.hpp"

#include "dialects/shell/containers.hpp"
#include "dialects/shell/shell_words.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

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
    const std::string reference = "$(" + name + ")";
    if (value.text.find("$(") != std::string::npos) return;
    for (auto at = text.find(reference); at != std::string::npos && text.size() < largest_settings;
         at = text.find(reference, at + value.text.size())) {
      text.replace(at, reference.size(), value.text);
    }
  });
  return text;
}

/// Assignments that a shell in the container finds made.
std::string assignments(const Node& container) {
  std::string text;
  each_variable(container, [&](const std::string& name, const Node& value) {
    const bool plain = !name.empty() && std::ranges::all_of(name, is_name_char) && !quantity::is_digit(name[0]);
    if (!plain || value.text.find_first_of("'\n") != std::string::npos) return;
    text.append(name).append("='").append(value.text).append("';");
  });
  return text;
}

/// Items of a command: a list of words, or a line for a shell.
void add_words(const Node& container, std::string_view key, std::string_view place, std::vector<ShellWord>& words) {
  const Node* node = container.find(key);
  if (node == nullptr) return;
  const auto add = [&](const Node& from, bool one_word) {
    const std::string text = with_variables(from.text, container);
    const bool expands = text.find('$') != std::string::npos;
    const bool is_script = words.size() == 2 && words[1].text.starts_with("-") && words[1].text.ends_with("c");
    if (one_word && (!expands || is_script)) {
      words.push_back({text, line_of(from.where), {}});
      return;
    }
    for (auto& command : parse_shell(one_word ? '"' + text + '"' : text, place).commands) {
      for (auto& word : command.words)
        words.push_back({std::move(word.text), line_of(from.where), std::move(word.unknown)});
    }
  };
  for (const Node& item : node->items) add(item, true);
  if (node->kind == Node::Kind::value) add(*node, false);
}

}  // namespace

const Node* below(const Node* node, std::initializer_list<std::string_view> keys) {
  for (const auto key : keys) node = node == nullptr ? nullptr : node->find(key);
  return node;
}

int line_of(const std::string& where) {
  const auto colon = where.rfind(':');
  auto line = std::string_view(where).substr(colon == std::string::npos ? where.size() : colon + 1);
  return quantity::take_number<int>(line).value_or(0);
}

void put(LaunchCommand& launch, std::string_view key, std::string text, const std::string& where) {
  if (!text.empty()) launch.launcher.put({std::string(key), std::move(text), {}, where, {}});
}

std::string count_of(std::string text) {
  std::erase_if(text, [](char c) { return c == '"' || c == '\''; });
  if (text.starts_with("device=")) return std::to_string(1 + std::ranges::count(text, ','));
  return quantity::is_number(text) ? text : std::string();
}

std::vector<ShellWord> container_words(const Node& container, std::string_view place) {
  std::vector<ShellWord> words;
  for (const auto key : {"entrypoint", "command"}) add_words(container, key, place, words);
  add_words(container, "args", place, words);
  const bool script = words.size() >= 3 && base_name(words[0].text).ends_with("sh") && words[1].text.starts_with("-");
  if (script) words[2].text = assignments(container) + words[2].text;
  return without_shell(std::move(words), place);
}

void take_variables(const Node& container, LaunchCommand& launch) {
  each_variable(container, [&](const std::string& name, const Node& value) {
    put(launch, "environment." + name, value.text, value.where);
  });
}

void take_accelerators(const Node& container, LaunchCommand& launch) {
  for (const auto holder : {"resources", "resourcesPerNode"}) {
    for (const auto amount : {"requests", "limits"}) {
      for (const auto resource : {"nvidia.com/gpu", "amd.com/gpu"}) {
        const Node* count = below(&container, {holder, amount, resource});
        if (count != nullptr) put(launch, "container.gpus", count_of(count->text), count->where);
      }
    }
  }
  const Node* devices = below(&container, {"deploy", "resources", "reservations", "devices"});
  if (devices == nullptr) return;
  for (const Node& device : devices->items) {
    if (const Node* count = device.find("count")) put(launch, "container.gpus", count_of(count->text), count->where);
    if (const Node* ids = device.find("device_ids")) {
      put(launch, "container.gpus", std::to_string(ids->items.size()), ids->where);
    }
  }
}

}  // namespace llmcalc::dialects
