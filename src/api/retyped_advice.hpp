// Advice as it must be typed behind what was typed before.
#pragma once

#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/read/resolve.hpp"
#include "llmcalc/search/advice.hpp"

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

/// Adds the options that were typed and that hold no longer after the change, with their new values: adapters leave
/// their base without a master copy, so beside "--master-weights 1" they also ask for "--master-weights 0". False
/// where the advice, typed so, is refused or needs something else than it promises, as where a default follows it.
/// \param question  what the words ask
bool retype(const Asked& asked, const spec::Question& question, search::Advice& advice);

}  // namespace llmcalc::api
