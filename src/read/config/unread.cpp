// Keys of a file that nobody knows: what they say may be a size that the answer leaves out.
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/config/steps.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace llmcalc::read {
namespace {

using nlohmann::json;

/// Parts of a description that hold no expressions.
constexpr std::array<std::string_view, 6> prose = {"id", "aliases", "source", "about", "like", "harmless"};

/// Where the keys that belong to no family stand: presets/families/keys.json.
constexpr std::string_view common_keys = "(keys)";

using KeySet = std::set<std::string, std::less<>>;

bool is_key_char(char c) { return quantity::is_name_char(c) || c == '.'; }

/// The steps of every key that an expression names, of "text.hidden_size" both; what else it names does no harm.
void add_names_in(std::string_view expression, KeySet& names) {
  while (!expression.empty()) {
    const auto end = std::ranges::find_if_not(expression, is_key_char) - expression.begin();
    for (const auto step : quantity::pieces_of(expression.substr(0, static_cast<std::size_t>(end)), ".")) {
      names.emplace(step);
    }
    expression.remove_prefix(std::min(expression.size(), static_cast<std::size_t>(end) + 1));
  }
}

void add_names(const json& description, KeySet& names) {
  if (description.is_string()) return add_names_in(description.get_ref<const std::string&>(), names);
  if (!description.is_structured()) return;
  for (const auto& [part, value] : description.items()) {
    if (!description.is_object() || !quantity::contains(prose, part)) add_names(value, names);
  }
}

/// "*_token_id", "mask_time_*", "*dropout*".
bool matches(std::string_view key, std::string_view pattern) {
  const bool open_end = pattern.ends_with('*');
  if (open_end) pattern.remove_suffix(1);
  if (!pattern.starts_with('*')) return open_end ? key.starts_with(pattern) : key == pattern;
  pattern.remove_prefix(1);
  return open_end ? key.find(pattern) != std::string_view::npos : key.ends_with(pattern);
}

/// A key that is switched off, or holds nothing, says nothing.
bool says_something(const json& value) {
  const bool off = value.is_boolean() && !value.get<bool>();
  const bool empty = (value.is_structured() || value.is_null()) && value.empty();
  return !off && !empty && value != "";
}

/// Keys that a file may say without a word of it being left out.
class KnownKeys {
 public:
  void add(const Family& family) {
    add_names(family.description(), names_);
    const auto harmless = family.description().find("harmless");
    if (harmless == family.description().end()) return;
    for (const json& words : *harmless) patterns_.push_back(words.get<std::string>());
  }

  void list_others(const Found<const json*>& object, std::vector<std::string>& unread) const {
    for (const auto& [key, value] : object.value->items()) {
      if (says_something(value) && !knows(key)) unread.push_back(object.pointer + "/" + key);
    }
  }

 private:
  bool knows(std::string_view key) const {
    const auto is_one = [key](std::string_view pattern) { return matches(key, pattern); };
    return names_.contains(key) || std::ranges::any_of(patterns_, [&](std::string_view words) {
             return std::ranges::any_of(quantity::pieces_of(words, " "), is_one);
           });
  }

  KeySet names_;
  std::vector<std::string> patterns_;
};

/// The towers of a wrapper: of the type that its description names, or the file.
void add_towers(const Families& families, const Family& wrapper, const ConfigDocument& document, KnownKeys& known) {
  constexpr std::array<std::string_view, 1> type_key = {"model_type"};
  for (const json& part : wrapper.description().at("towers")) {
    const auto type = document.part(part.value("at", std::string())).text(type_key);
    for (const auto& name : {part.value("like", std::string()), type ? type->value : std::string()}) {
      if (const auto family = families.named(name)) known.add(*family);
    }
  }
}

}  // namespace

std::vector<std::string> unread_keys(const Families& families, const ConfigReader& reader,
                                     const std::optional<Family>& wrapper) {
  KnownKeys known;
  if (const auto common = families.named(common_keys)) known.add(*common);
  known.add(reader.family());
  if (wrapper) {
    known.add(*wrapper);
    add_towers(families, *wrapper, reader.document(), known);
  }
  std::vector<std::string> unread;
  known.list_others(reader.object().whole(), unread);
  if (wrapper && reader.document().is_nested()) known.list_others(reader.document().root().whole(), unread);
  return unread;
}

}  // namespace llmcalc::read
