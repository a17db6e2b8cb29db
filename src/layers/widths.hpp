// Bytes of an element, in the two widths that states and activations are kept in.
#pragma once

#include <cstdint>

namespace llmcalc::layers {

inline constexpr std::int64_t half_width = 2;  ///< fp16 and bf16
inline constexpr std::int64_t fp32_width = 4;

}  // namespace llmcalc::layers
