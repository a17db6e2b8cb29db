// From what a search found to the report that is printed.
#pragma once

#include "llmcalc/read/plan_words.hpp"
#include "llmcalc/render/plan.hpp"
#include "llmcalc/search/plan.hpp"

#include <vector>

namespace llmcalc::cli {

/// \param words  as they were given, for the command that answers with the best run in full
render::PlanReport plan_report(const std::vector<read::Given>& words, const read::PlanWords& plan,
                               const search::PlanSpace& space, const search::Findings& findings);

}  // namespace llmcalc::cli
