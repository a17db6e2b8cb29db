// Combinations of words that no run can have.
#pragma once

#include "read/words/draft.hpp"

namespace llmcalc::read {

/// \pre the draft is complete
/// \throws quantity::BadInput that names both words of the first contradiction
void check_combinations(const Draft& draft);

}  // namespace llmcalc::read
