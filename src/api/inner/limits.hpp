// What a run may take at most, as people say it of a plan and of one run.
#pragma once

#include "api/arguments.hpp"
#include "llmcalc/answer/estimate.hpp"
#include "search/plan.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::api {

std::vector<Flag> limit_flags(std::string_view group);

search::PlanLimits limits_of(const Arguments& arguments);

/// Of one run.
struct RunLimits {
  search::PlanLimits most = {};
  std::optional<quantity::Bytes> margin = {};  ///< of memory that must be left
  std::optional<double> margin_share = {};     ///< the same, of the accelerator's
  bool strict = false;                         ///< the high end of the error bar counts
};

RunLimits run_limits_of(const Arguments& arguments);

/// What goes beyond them, a sentence each.
/// \throws quantity::BadInput at a limit of what is not known of the run
std::vector<std::string> beyond(const RunLimits& limits, const answer::Estimate& estimate);

}  // namespace llmcalc::api
