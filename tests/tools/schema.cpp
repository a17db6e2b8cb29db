#include "tools/schema.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace llmcalc::test {
namespace {

using nlohmann::json;

bool has_type(const json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  if (type == "string") return value.is_string();
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "null") return value.is_null();
  throw std::runtime_error("the schema names an unknown type: " + type);
}

/// One keyword at one place: the schema around it, what it demands, and the value that must comply.
struct At {
  const json& schema;
  const json& rule;
  const json& value;
  const std::string& place;
};

/// One walk over schema and document together; `errors` grows as it goes.
class Validation {
 public:
  explicit Validation(const json& root) : root_(root) {}

  void check(const json& schema, const json& value, const std::string& place) {
    if (schema.is_boolean()) {
      if (!schema.get<bool>()) fail(place, "is not allowed here");
      return;
    }
    for (const auto& [keyword, rule] : schema.items()) {
      const auto found = keywords.find(keyword);
      if (found == keywords.end()) throw std::runtime_error("the schema uses an unknown keyword: " + keyword);
      if (found->second != nullptr) (this->*found->second)({schema, rule, value, place});
    }
  }

  std::vector<std::string> errors;

 private:
  using Keyword = void (Validation::*)(const At&);
  static const std::map<std::string, Keyword> keywords;

  void fail(const std::string& place, const std::string& problem) { errors.push_back(place + ": " + problem); }

  void reference(const At& at) {
    const auto target = at.rule.get<std::string>();
    if (!target.starts_with('#')) throw std::runtime_error("the schema refers outside itself: " + target);
    check(root_.at(json::json_pointer(target.substr(1))), at.value, at.place);
  }

  void type(const At& at) {
    const auto matches = [&](const json& name) { return has_type(at.value, name.get_ref<const std::string&>()); };
    const bool fits = at.rule.is_array() ? std::any_of(at.rule.begin(), at.rule.end(), matches) : matches(at.rule);
    if (!fits) fail(at.place, "is not of type " + at.rule.dump());
  }

  void constant(const At& at) {
    if (at.value != at.rule) fail(at.place, "is not " + at.rule.dump());
  }

  void enumeration(const At& at) {
    if (std::find(at.rule.begin(), at.rule.end(), at.value) == at.rule.end()) {
      fail(at.place, "is none of " + at.rule.dump());
    }
  }

  void minimum(const At& at) {
    if (at.value.is_number() && at.value < at.rule) fail(at.place, "is less than " + at.rule.dump());
  }

  void required(const At& at) {
    if (!at.value.is_object()) return;
    for (const json& key : at.rule) {
      if (!at.value.contains(key.get<std::string>())) fail(at.place, "lacks the key " + key.dump());
    }
  }

  void properties(const At& at) {
    if (!at.value.is_object()) return;
    for (const auto& [key, rule] : at.rule.items()) {
      if (at.value.contains(key)) check(rule, at.value.at(key), at.place + '/' + key);
    }
  }

  void additional_properties(const At& at) {
    if (!at.value.is_object()) return;
    const auto known = at.schema.find("properties");
    for (const auto& [key, member] : at.value.items()) {
      if (known == at.schema.end() || !known->contains(key)) check(at.rule, member, at.place + '/' + key);
    }
  }

  void items(const At& at) {
    if (!at.value.is_array()) return;
    for (std::size_t i = 0; i < at.value.size(); ++i) check(at.rule, at.value[i], at.place + '/' + std::to_string(i));
  }

  void any_of(const At& at) { alternatives(at, at.rule.size()); }
  void one_of(const At& at) { alternatives(at, 1); }

  /// When no alternative accepts the value, the errors of the one that came closest are the useful ones.
  void alternatives(const At& at, std::size_t at_most) {
    std::size_t accepting = 0;
    std::vector<std::string> closest;
    for (const json& alternative : at.rule) {
      Validation branch(root_);
      branch.check(alternative, at.value, at.place);
      if (branch.errors.empty()) ++accepting;
      if (closest.empty() || branch.errors.size() < closest.size()) closest = branch.errors;
    }
    if (accepting > at_most) fail(at.place, "fits " + std::to_string(accepting) + " alternatives, not one");
    if (accepting == 0) errors.insert(errors.end(), closest.begin(), closest.end());
  }

  const json& root_;
};

const std::map<std::string, Validation::Keyword> Validation::keywords = {
    {"$schema", nullptr},
    {"$id", nullptr},
    {"$defs", nullptr},
    {"title", nullptr},
    {"description", nullptr},
    {"$ref", &Validation::reference},
    {"type", &Validation::type},
    {"const", &Validation::constant},
    {"enum", &Validation::enumeration},
    {"minimum", &Validation::minimum},
    {"required", &Validation::required},
    {"properties", &Validation::properties},
    {"additionalProperties", &Validation::additional_properties},
    {"items", &Validation::items},
    {"anyOf", &Validation::any_of},
    {"oneOf", &Validation::one_of},
};

}  // namespace

std::vector<std::string> schema_errors(const json& schema, const json& document) {
  Validation validation(schema);
  validation.check(schema, document, "");
  return validation.errors;
}

}  // namespace llmcalc::test
