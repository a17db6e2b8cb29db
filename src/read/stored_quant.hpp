// How a checkpoint's own files say that its weights are quantized, whichever reader looks their keys up.
#pragma once

#include "llmcalc/formats/quant.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace llmcalc::read {

/// The type that a key holds: a reader that checks types can refuse anything else.
enum class Holds { word, bits, flag, list };

/// The text of a key of quantization_config, "config_groups.group_0.weights.num_bits" of one inside objects; empty
/// where it is absent or null.
using KeyText = std::function<std::string(std::string_view key, Holds holds)>;

struct StoredQuant {
  std::string scheme;                   ///< in the file's own words: "gptq 8"
  std::optional<formats::Quant> quant;  ///< empty where that scheme is not known
};

/// The type of keys and values that the checkpoint has scales for, which engines take where nobody says another: "fp8",
/// or the file's own word where that is not known. Empty where the keys name none.
std::string stored_cache(const KeyText& text);

/// Empty where the keys name no scheme.
std::optional<StoredQuant> stored_quant(const KeyText& text);

}  // namespace llmcalc::read
