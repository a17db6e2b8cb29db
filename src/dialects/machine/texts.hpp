// Texts in which a machine tells of itself: its cards, its packages.
#pragma once

#include "dialects/reading.hpp"

#include <optional>
#include <string_view>

namespace llmcalc::dialects {

/// The cards that `nvidia-smi`, `nvidia-smi -L` or `nvidia-smi --query-gpu=name,... --format=csv` printed; empty for
/// any other text. \throws quantity::BadInput where they differ, are cut into slices without names, or there are none
std::optional<Reading> read_nvidia_smi(std::string_view text, std::string_view place);

}  // namespace llmcalc::dialects
