// From what a search found to the report that is printed.
#pragma once

#include "api/inner/fit_command.hpp"
#include "read/plan_words.hpp"
#include "render/plan.hpp"
#include "search/plan.hpp"

namespace llmcalc::api {

/// \param asked  the words as they were given, for the command that answers with the best run in full
render::PlanReport plan_report(const AskedWords& asked, const read::PlanWords& plan, const search::PlanSpace& space,
                               const search::Findings& findings);

}  // namespace llmcalc::api
