// A layout in a few words: "dp 4, tp 2 sp, zero1, mb 2".
#pragma once

#include "render/plan.hpp"

#include <string>
#include <vector>

namespace llmcalc::render {

/// Which terms tell rows apart or say how a layout is parallel; what all rows share and nobody uses is left out.
std::vector<std::size_t> telling_terms(const PlanReport& report);

/// The values of those terms in a row, without those that say that something is not used.
std::string layout_words(const PlanReport& report, const PlanRow& row, const std::vector<std::size_t>& terms);

}  // namespace llmcalc::render
