// Texts in which a machine tells of itself: its cards, its packages.
#pragma once

#include "dialects/reading.hpp"

#include <optional>
#include <string_view>

namespace llmcalc::dialects {

/// The cards that `nvidia-smi`, `nvidia-smi -L` or `nvidia-smi --query-gpu=name,... --format=csv` printed; empty for
/// any other text. \throws quantity::BadInput where they differ, are cut into slices without names, or there are none
std::optional<Reading> read_nvidia_smi(std::string_view text, std::string_view place);

/// Releases that `pip freeze` or `pip list` printed, or that a requirements.txt pins; empty for any other text.
/// \throws quantity::BadInput where none is of a library or a server that is known
std::optional<Reading> read_requirements(std::string_view text, std::string_view place);

}  // namespace llmcalc::dialects
