// One part of a search as a file, and all parts together again.
#pragma once

#include "api/inner/plan_options.hpp"
#include "search/plan.hpp"

#include <string>
#include <vector>

namespace llmcalc::api {

/// What one part found, with the question that it is a part of.
std::string to_part(const PlanOptions& options, const search::Findings& findings);

struct Parts {
  PlanOptions options;  ///< the question that all of them share
  std::vector<search::Findings> findings;
};

/// \param options  how to show the answer
/// \throws quantity::BadInput when a file is no part, is of another question, or when one is missing
Parts read_parts(const PlanOptions& options, const Surroundings& around);

/// The same findings as those of one search over all parts.
search::Findings merged(const search::PlanSpace& space, const std::vector<search::Findings>& parts);

}  // namespace llmcalc::api
