// A search that somebody watches.
#pragma once

#include "api/surroundings.hpp"

namespace llmcalc::cli {

/// Ctrl-C ends the search with what has been found so far.
/// \param draws  a bar on stderr
api::Searched search(const search::PlanSpace& space, const api::SearchOptions& options, bool draws);

}  // namespace llmcalc::cli
