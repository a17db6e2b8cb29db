// From words to everything that is said about one run: what the command line and the library share.
#pragma once

#include "llmcalc/llmcalc.hpp"
#include "read/resolve.hpp"

#include <optional>
#include <string>
#include <vector>

namespace llmcalc::api {

/// \throws quantity::BadInput naming the place of what is wrong or missing
Answer fit(const std::vector<read::Given>& said, const std::optional<read::ConfigText>& config,
           const read::Catalogue& catalogue, const read::Values& values = {});

/// The cheapest change with which a run fits that does not, as words to type; empty where there is none.
/// \param estimate  of the words
std::string first_advice(const std::vector<read::Given>& said, const std::optional<read::ConfigText>& config,
                         const read::Catalogue& catalogue, const answer::Estimate& estimate);

}  // namespace llmcalc::api
