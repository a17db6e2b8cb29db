// How a changed run is asked for by who asked for the run before.
#pragma once

#include "read/resolve.hpp"
#include "search/advice.hpp"

#include <optional>
#include <vector>

namespace llmcalc::api {

/// What a person asked, before it was completed.
struct Asked {
  const std::vector<read::Given>& words;
  const std::optional<read::ConfigText>& config;
  const read::Catalogue& catalogue;
  const read::Values& values;
};

/// Completes the words again with those of a change in their place. Terms that were said and that hold no longer after
/// the change are said anew: adapters leave their base without a master copy, so beside "--master-weights 1" they also
/// ask for "--master-weights 0".
/// \param question  what the words ask
/// \pre both arguments outlive what is returned
search::Restate restating(const Asked& asked, const spec::Question& question);

}  // namespace llmcalc::api
