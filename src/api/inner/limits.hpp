// What a check of a run fails on: what it may take at most, as people say it of a plan and of one run, and what changed
// against an answer that was kept.
#pragma once

#include "api/arguments.hpp"
#include "api/surroundings.hpp"
#include "llmcalc/answer/estimate.hpp"
#include "search/plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::api {

search::PlanLimits limits_of(const Arguments& arguments);

/// Sentences, one for each limit that is exceeded; with `strict` the high end of the error bar counts.
/// \throws quantity::BadInput at a limit of what is not known of the run
std::vector<std::string> beyond(const search::PlanLimits& limits, const answer::Estimate& estimate, bool strict);

/// Says what differs from the answer in the file that --baseline names, in five lines at most, and fails where a figure
/// is worse by more than --worse-by; adds nothing where nobody names one.
/// \throws quantity::BadInput for a file that holds no JSON answer of this verb, and for --worse-by alone
void compare_with_baseline(Reply& reply, const Arguments& arguments, const Surroundings& around);

}  // namespace llmcalc::api
