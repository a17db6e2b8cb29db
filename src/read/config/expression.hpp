// The little language in which descriptions of families say what follows from the keys of a file.
//
// `hidden_size ?? n_embd`, `4 * $hidden`, `layer_types[layer] == 'full_attention'`, `use_qk_norm ? 'per-head' :
// 'none'`. A name is a key of the file ("attn_config.kv_n_heads" one inside an object), `$name` a field of the shape,
// `layer` the index of a layer. What is absent or null makes a computation absent, counts as false, and gives way to
// what stands behind `??`. Numbers are doubles, which hold every size exactly; `/` divides exactly and `//` rounds
// down.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace llmcalc::read {

// What an expression of a family's description comes to.

/// The value that an expression comes to. `value` points at JSON while it is a value of the file or of the family's
/// defaults as it stands there, and `pointer` says where in the file.
struct Amount {
  enum class Kind { absent, number, word, json };
  Kind kind = Kind::absent;
  double number = 0.0;
  std::string word;
  const nlohmann::json* value = nullptr;
  std::string pointer;

  bool is_absent() const { return kind == Kind::absent; }
  bool is_true() const;
  /// Equality of kind and value; lists and objects are like nothing.
  bool is_same_as(const Amount& other) const;
  bool is_list() const;
  /// An item of a list, from its end where the index is negative; absent beyond it. \pre is_list()
  Amount element(double index) const;
  /// How often a list holds a value, or a word a letter; never in anything else.
  std::int64_t occurrences(const Amount& wanted) const;

  static Amount of(double number);
  static Amount of(std::string word);
  /// The amount of a key's value: null is absent.
  static Amount of(const nlohmann::json& value, std::string pointer);
};

/// Where names get their values.
class Names {
 public:
  virtual ~Names() = default;
  virtual Amount key(std::string_view path) = 0;    ///< of the file, else of the class
  virtual bool is_null(std::string_view path) = 0;  ///< whether the file holds the key with the value null
  virtual Amount own(std::string_view key) = 0;     ///< as the file has it for this layer
  virtual Amount field(std::string_view name) = 0;  ///< of the shape
  virtual std::int64_t layer() const = 0;
  virtual std::string place_of(const std::string& pointer) const = 0;
};

/// \param place  of the expression, for messages about its own mistakes
/// \throws quantity::BadInput when the text is no expression, or an operand is of the wrong kind
Amount evaluate(std::string_view text, Names& names, std::string_view place);

/// The first key that an expression names: what a person would add to the file.
std::string first_key(std::string_view text);

}  // namespace llmcalc::read
