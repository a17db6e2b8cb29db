// Reading the JSON of a preset file: every value knows the file and the JSON pointer at which it stands, and an object
// is read by a table of its fields, so that an unknown key is a mistake with a place and a suggestion.
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace llmcalc::read {

/// A JSON value and its place.
class JsonPlace {
 public:
  /// \pre `value` and `file` outlive this object
  JsonPlace(const nlohmann::json& value, std::string_view file, std::string pointer = {})
      : value_(&value), file_(file), pointer_(std::move(pointer)) {}

  const nlohmann::json& value() const { return *value_; }
  std::string_view file() const { return file_; }
  const std::string& pointer() const { return pointer_; }
  JsonPlace member(const std::string& key) const;
  JsonPlace item(std::size_t index) const;
  std::vector<JsonPlace> items() const;  ///< of a list
  bool has(std::string_view key) const { return value_->is_object() && value_->contains(key); }

  /// "my-models.json:/0/layers"
  std::string text() const;
  [[noreturn]] void fail(const std::string& problem, const std::string& hint = {}) const;

  std::int64_t integer(std::int64_t largest, std::int64_t smallest = 0) const;
  double number() const;  ///< finite and not negative
  bool boolean() const;
  std::string string() const;
  std::vector<std::string> strings() const;
  std::string sentences() const;          ///< a string, or an array of strings that are joined by "; "
  std::vector<std::string> keys() const;  ///< of an object; anything else is refused

 private:
  const nlohmann::json* value_;
  std::string_view file_;
  std::string pointer_;
};

/// The entries of a preset file: an array of objects, or one object alone.
class PresetDocument {
 public:
  /// \throws quantity::BadInput with the byte offset when `json` is not JSON
  PresetDocument(std::string_view json, std::string_view file);

  std::vector<JsonPlace> entries() const;
  JsonPlace root() const { return {value_, file_}; }

 private:
  nlohmann::json value_;
  std::string file_;
};

/// One key of an object and what it sets.
template <class Target>
struct Field {
  std::string_view key;
  void (*read)(Target& target, const JsonPlace& value);
};

[[noreturn]] void fail_unknown_key(const JsonPlace& object, const std::string& key,
                                   std::span<const std::string_view> known);

/// Reads every key of `object` into `target` by the field of its name.
template <class Target>
void read_fields(Target& target, const JsonPlace& object, std::span<const Field<std::type_identity_t<Target>>> fields) {
  for (const std::string& key : object.keys()) {
    const auto field = std::ranges::find(fields, std::string_view(key), &Field<Target>::key);
    if (field == fields.end()) {
      std::vector<std::string_view> known;
      for (const auto& each : fields) known.push_back(each.key);
      fail_unknown_key(object, key, known);
    }
    field->read(target, object.member(key));
  }
}

}  // namespace llmcalc::read
