// What changed against an answer that was kept: for a review of a change of configuration.
#pragma once

#include "api/arguments.hpp"
#include "api/surroundings.hpp"

#include <vector>

namespace llmcalc::api {

/// --baseline and --worse-by.
std::vector<Flag> baseline_flags();

/// Says what differs from the answer in the file that --baseline names, in five lines at most, and fails where a figure
/// is worse by more than --worse-by; adds nothing where nobody names one.
/// \throws quantity::BadInput for a file that holds no JSON answer of this verb, and for --worse-by alone
void compare_with_baseline(Reply& reply, const Arguments& arguments, const Surroundings& around);

}  // namespace llmcalc::api
