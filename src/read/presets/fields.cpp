#include "read/presets/fields.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/inner/json_text.hpp"

namespace llmcalc::read {
namespace {

using nlohmann::json;

/// Far above any quantity of a preset, and still finite when a unit such as 1e12 multiplies it.
constexpr double largest_number = 1e30;
constexpr std::size_t longest_quote = 60;

/// RFC 6901: "~" and "/" inside a key.
std::string escaped(const std::string& key) {
  std::string result;
  for (const char c : key) {
    if (c == '~') {
      result += "~0";
    } else if (c == '/') {
      result += "~1";
    } else {
      result += c;
    }
  }
  return result;
}

std::string quoted(const json& value) {
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() <= longest_quote ? text : text.substr(0, longest_quote).append("...");
}

}  // namespace

JsonPlace JsonPlace::member(const std::string& key) const {
  return {value_->at(key), file_, pointer_ + '/' + escaped(key)};
}

JsonPlace JsonPlace::item(std::size_t index) const {
  return {value_->at(index), file_, pointer_ + '/' + std::to_string(index)};
}

std::string JsonPlace::text() const {
  return pointer_.empty() ? std::string(file_) : std::string(file_) + ':' + pointer_;
}

void JsonPlace::fail(const std::string& problem, const std::string& hint) const {
  throw quantity::BadInput(text(), problem, hint);
}

std::int64_t JsonPlace::integer(std::int64_t largest, std::int64_t smallest) const {
  const bool fits = value_->is_number_unsigned() &&
                    value_->get<std::uint64_t>() >= static_cast<std::uint64_t>(smallest) &&
                    value_->get<std::uint64_t>() <= static_cast<std::uint64_t>(largest);
  if (!fits) {
    fail("expected a whole number from " + std::to_string(smallest) + " to " + std::to_string(largest) + ", not " +
         quoted(*value_));
  }
  return value_->get<std::int64_t>();
}

double JsonPlace::number() const {
  const bool fits = value_->is_number() && value_->get<double>() >= 0 && value_->get<double>() <= largest_number;
  if (!fits) fail("expected a number that is not negative, not " + quoted(*value_));
  return value_->get<double>();
}

bool JsonPlace::boolean() const {
  if (!value_->is_boolean()) fail("expected true or false, not " + quoted(*value_));
  return value_->get<bool>();
}

std::string JsonPlace::string() const {
  if (!value_->is_string()) fail("expected a text in quotes, not " + quoted(*value_));
  return quantity::printable(value_->get<std::string>());
}

std::vector<JsonPlace> JsonPlace::items() const {
  std::vector<JsonPlace> items;
  for (std::size_t i = 0; i < value_->size(); ++i) items.push_back(item(i));
  return items;
}

std::vector<std::string> JsonPlace::strings() const {
  if (!value_->is_array()) fail("expected a list of texts, not " + quoted(*value_));
  return quantity::mapped(items(), &JsonPlace::string);
}

std::string JsonPlace::sentences() const { return value_->is_string() ? string() : quantity::joined(strings(), "; "); }

std::vector<std::string> JsonPlace::keys() const {
  if (!value_->is_object()) fail("expected an object in braces, not " + quoted(*value_));
  return quantity::mapped(value_->items(), [](const auto& member) { return member.key(); });
}

PresetDocument::PresetDocument(std::string_view json, std::string_view file)
    : value_(parse_json(json, file)), file_(file) {}

std::vector<JsonPlace> PresetDocument::entries() const {
  return value_.is_array() ? root().items() : std::vector{root()};
}

void fail_unknown_key(const JsonPlace& object, const std::string& key, std::span<const std::string_view> known) {
  object.member(key).fail("unknown field '" + key + "'", quantity::did_you_mean(key, known));
}

std::vector<std::string_view> names_below(const std::vector<std::string_view>& keys, std::string_view path) {
  std::vector<std::string_view> names;
  for (const auto key : keys) {
    if (!key.starts_with(path)) continue;
    const auto name = key.substr(path.size(), key.find('/', path.size()) - path.size());
    if (!quantity::contains(names, name)) names.push_back(name);
  }
  return names;
}

namespace {

constexpr std::int64_t most_gib = quantity::kibi * quantity::kibi;

}  // namespace

quantity::Bytes gibibytes(const JsonPlace& value) { return quantity::gib(value.integer(most_gib)); }

quantity::Bytes mebibytes(const JsonPlace& value) { return quantity::mib(value.integer(most_gib * quantity::kibi)); }

std::string read_name(const JsonPlace& value) {
  std::string name = value.string();
  const auto separates = [](char c) { return c == ':' || c == ',' || c == '|' || c == 0x7f || (c >= 0 && c <= ' '); };
  if (name.empty() || std::ranges::any_of(name, separates)) {
    value.fail("a name is one word without white space, ':', ',' or '|'");
  }
  return name;
}

std::vector<std::string> read_names(const JsonPlace& value) {
  std::vector<std::string> names = value.strings();
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = read_name(value.item(i));
  return names;
}

}  // namespace llmcalc::read
