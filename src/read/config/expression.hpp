// The little language in which descriptions of families say what follows from the keys of a file.
//
// `hidden_size ?? n_embd`, `4 * $hidden`, `layer_types[layer] == 'full_attention'`, `use_qk_norm ? 'per-head' :
// 'none'`. A name is a key of the file ("attn_config.kv_n_heads" one inside an object), `$name` a field of the shape,
// `layer` the index of a layer. What is absent or null makes a computation absent, counts as false, and gives way to
// what stands behind `??`. Numbers are doubles, which hold every size exactly; `/` divides exactly and `//` rounds
// down.
#pragma once

#include "read/config/amount.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace llmcalc::read {

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

}  // namespace llmcalc::read
