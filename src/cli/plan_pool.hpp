// A search on all cores.
#pragma once

#include "api/surroundings.hpp"

namespace llmcalc::cli {

/// Ctrl-C ends the search with what has been found so far.
/// \param draws  a bar on stderr
api::Searched search(const search::PlanSpace& space, const api::PoolOptions& options, bool draws);

/// As many as the machine has cores.
unsigned default_threads();

}  // namespace llmcalc::cli
