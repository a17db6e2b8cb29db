// Precision recipes: what --dtype means under each framework.
#pragma once

#include "llmcalc/spec/training.hpp"
#include "read/words/draft.hpp"

namespace llmcalc::read {

/// Sets the six precision knobs: the recipe of --dtype, or of --weights where only that was given, as the framework
/// keeps it; then what adapters and 8-bit optimizers change; then the explicit words.
/// \pre framework, method and optimizer have been taken
void take_precision(Draft& draft);

}  // namespace llmcalc::read
