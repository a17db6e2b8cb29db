#include "read/settings.hpp"

#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/parse.hpp"
#include "quantity/text.hpp"
#include "read/checkpoint.hpp"
#include "read/inner/json_text.hpp"
#include "read/presets/fields.hpp"

#include <fmt/format.h>

namespace llmcalc::read {
namespace {

bool holds_values(const Node& list) {
  return std::ranges::all_of(list.items, [](const Node& item) { return item.kind == Node::Kind::value; });
}

Setting setting_of(std::string key, const Node& node) {
  auto items = quantity::mapped(node.items, &Node::text);
  auto text = node.text + quantity::joined(items, ",");
  return {std::move(key), std::move(text), std::move(items), node.where};
}

void flatten(const std::string& key, const Node& node, Settings& settings) {
  switch (node.kind) {
    case Node::Kind::nothing:  // a group of settings that is nothing is switched off
      if (key.ends_with("_config")) settings.put({key, "null", {}, node.where, {}});
      return;
    case Node::Kind::value: return settings.put(setting_of(key, node));
    case Node::Kind::list:
      if (holds_values(node)) return settings.put(setting_of(key, node));
      for (std::size_t i = 0; i < node.items.size(); ++i) {
        flatten(key + "." + std::to_string(i), node.items[i], settings);
      }
      return;
    case Node::Kind::table:
      if (node.text == empty_section && !key.empty()) return settings.put(setting_of(key, node));
      for (const auto& [name, member] : node.members) {
        flatten(key.empty() ? with_underscores(name) : key + "." + with_underscores(name), member, settings);
      }
  }
}

/// "${.seq}" names a neighbour, as OmegaConf has it, and "${..seq}" one of a level above.
std::string full_name(const Setting& setting, std::string_view named) {
  const std::string name = with_underscores(named);
  std::string_view rest = name;
  std::string_view level = setting.key;
  while (rest.starts_with('.')) {
    const auto dot = level.rfind('.');
    level = dot == std::string_view::npos ? std::string_view() : level.substr(0, dot);
    rest.remove_prefix(1);
  }
  return rest.size() == name.size() || level.empty() ? std::string(rest) : fmt::format("{}.{}", level, rest);
}

/// The text that "${" and "}" hold, resolved: another value, the default of a variable of the environment, or a product
/// (NeMo's and NeMo-RL's resolvers `multiply` and `mul`).
/// \throws quantity::BadInput of a product that no integer holds
std::optional<std::string> resolved(const Settings& settings, const Setting& setting, std::string_view inner) {
  std::string_view arguments = inner;
  const auto resolver = quantity::take_until(arguments, ":");
  auto behind = arguments;
  const auto first = quantity::trim(quantity::take_until(behind, ","));
  behind = quantity::trim(behind);
  if (resolver == "oc.env" && !behind.empty()) return std::string(behind);
  if (resolver == "mul" || resolver == "multiply") {
    if (!quantity::is_number(first) || !quantity::is_number(behind)) return std::nullopt;
    const auto factor = quantity::parse_count(first, setting.where);
    const auto other = quantity::parse_count(behind, setting.where);
    try {
      return std::to_string(quantity::checked_multiply(factor, other));
    } catch (const quantity::Overflow& too_large) {
      throw quantity::BadInput(setting.where, too_large.what());
    }
  }
  const Setting* value = settings.find(full_name(setting, inner));
  return value == nullptr ? std::nullopt : std::optional(value->text);
}

using nlohmann::json;

class Converter {
 public:
  Node convert(const JsonPlace& from, int depth) {
    if (depth > deepest_node) from.fail(fmt::format("nests deeper than {} levels", deepest_node));
    if (++nodes_ > most_nodes) from.fail(fmt::format("holds more than {} values", most_nodes));
    const json& value = from.value();
    Node node;
    node.where = from.text();
    if (value.is_object()) {
      node.kind = Node::Kind::table;
      for (const auto& key : from.keys()) node.members.push_back({key, convert(from.member(key), depth + 1)});
    } else if (value.is_array()) {
      node.kind = Node::Kind::list;
      for (std::size_t i = 0; i < value.size(); ++i) node.items.push_back(convert(from.item(i), depth + 1));
    } else if (!value.is_null()) {
      node.kind = Node::Kind::value;
      node.text = value.is_string() ? value.get<std::string>() : value.dump();
    }
    return node;
  }

 private:
  std::size_t nodes_ = 0;
};

}  // namespace

void Settings::put(Setting setting) {
  const auto same = std::ranges::find(all_, setting.key, &Setting::key);
  if (same != all_.end()) {
    *same = std::move(setting);
  } else if (all_.size() < most_settings) {
    all_.push_back(std::move(setting));
  } else {
    throw quantity::BadInput(setting.where, "is one of more than " + std::to_string(most_settings) + " settings");
  }
}

void Settings::say(std::string_view key, std::string_view text, Setting because) {
  because.key = key;
  because.text = text;
  put(std::move(because));
}

void Settings::put(const Settings& above) {
  for (const Setting& setting : above.all()) put(setting);
}

void Settings::remove(std::string_view key) {
  std::erase_if(all_, [&](const Setting& setting) { return setting.key == key; });
}

const Setting* Settings::find(std::string_view key) const { return quantity::find_or_null(all_, key, &Setting::key); }

std::string with_underscores(std::string_view name) {
  std::string result(name);
  std::ranges::replace(result, '-', '_');
  return result;
}

std::string Settings::text(std::string_view key) const {
  const Setting* setting = find(key);
  return setting == nullptr ? std::string() : quantity::to_lower(setting->text);
}

Settings flat(const Node& table) {
  Settings settings;
  flatten("", table, settings);
  return settings;
}

void interpolate(Settings& settings) {
  constexpr int deepest = 8;  // values that name values that name values
  for (int depth = 0; depth < deepest; ++depth) {
    bool changed = false;
    for (Setting& setting : settings.all()) {
      const auto end = setting.text.find('}', std::min(setting.text.find("${"), setting.text.size()));
      const auto begin = end == std::string::npos ? end : setting.text.rfind("${", end);  // the innermost
      if (begin == std::string::npos) continue;
      const auto value = resolved(settings, setting, std::string_view(setting.text).substr(begin + 2, end - begin - 2));
      if (!value || setting.text.size() + value->size() > largest_settings) continue;
      setting.text.replace(begin, end + 1 - begin, *value);
      changed = true;
    }
    if (!changed) return;
  }
}

const Node* Node::find(std::string_view key) const {
  const auto* member = quantity::find_or_null(members, key, &Member::key);
  return member == nullptr ? nullptr : &member->value;
}

void refuse_large(std::string_view text, std::string_view place) {
  constexpr std::size_t largest_config = std::size_t{5} << 20U;  // one that names each expert of each layer
  if (text.size() <= (text.starts_with('{') ? largest_config : largest_settings)) return;
  throw quantity::BadInput(std::string(place), "is larger than 1 MiB, which no file of settings is");
}

/// Lists of thousands of modules in a checkpoint's files, which are no settings (nvidia/MiniMax-M3-NVFP4).
void leave_out_modules(json& file) {
  for (const char* block : {"quantization_config", "quantization"}) {
    const auto found = file.is_object() ? file.find(block) : file.end();
    if (found == file.end() || !found->is_object()) continue;
    if (const auto modules = found->find(modules_by_name); modules != found->end()) *modules = modules_by_name;
  }
}

Node parse_commented_json(std::string_view text, std::string_view place) {
  refuse_large(text, place);
  json value = parse_json(text, place, Comments::ignored);
  leave_out_modules(value);
  return Converter().convert({value, place}, 0);
}

}  // namespace llmcalc::read
