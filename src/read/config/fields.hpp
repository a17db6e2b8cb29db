// The fields of a shape that a family describes, in the order in which they are read: a description may use `$name` of
// those before it.
#pragma once

#include "llmcalc/spec/shape.hpp"
#include "read/config/document.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace llmcalc::read {

/// Fields that are only read where the model has what they belong to.
enum class FieldGroup { always, latent, experts, linear, state };

/// A whole number of the shape. Upper bounds lie well above every published model (Llama 3.1: 126 layers, 16,384 wide;
/// MT-NLG: 20,480 wide; Kimi K2: 384 experts) and keep any parameter count inside 63 bits.
struct NumberField {
  std::string_view name;
  std::string_view term;  ///< of the vocabulary, for its origin
  FieldGroup group;
  Range range;
  std::int64_t& (*member)(spec::Shape& shape);
};

struct SwitchField {
  std::string_view name;
  bool& (*member)(spec::Shape& shape);
};

/// A word of a closed vocabulary.
struct WordField {
  std::string_view name;
  bool (*set)(spec::Shape& shape, std::string_view word);  ///< false for a word that is not of the vocabulary
};

std::span<const NumberField> number_fields();
std::span<const SwitchField> switch_fields();
std::span<const WordField> word_fields();
const NumberField* number_field(std::string_view name);
const SwitchField* switch_field(std::string_view name);

/// Every field that a description may have under "shape", those that are no member of a shape too.
std::span<const std::string_view> shape_field_names();
/// Keys that a description may say of each layer.
std::span<const std::string_view> layer_field_names();

}  // namespace llmcalc::read
