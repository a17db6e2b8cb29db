// What an expression of a family's description comes to.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace llmcalc::read {

/// What an expression comes to. `value` points at JSON while it is a value of the file or of the family's defaults as
/// it stands there, and `pointer` says where in the file.
struct Amount {
  enum class Kind { absent, number, word, json };
  Kind kind = Kind::absent;
  double number = 0.0;
  std::string word;
  const nlohmann::json* value = nullptr;
  std::string pointer;

  bool is_absent() const { return kind == Kind::absent; }
  bool is_true() const;
  /// Of one kind and one value; lists and objects are like nothing.
  bool is_same_as(const Amount& other) const;
  bool is_list() const;
  /// Of a list, from its end where the index is negative; absent beyond it. \pre is_list()
  Amount element(double index) const;
  /// How often a list holds a value, or a word a letter; never in anything else.
  std::int64_t occurrences(const Amount& wanted) const;

  static Amount of(double number);
  static Amount of(std::string word);
  /// Of a key's value: null is absent.
  static Amount of(const nlohmann::json& value, std::string pointer);
};

}  // namespace llmcalc::read
