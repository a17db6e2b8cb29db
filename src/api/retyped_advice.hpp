// Advice as it must be typed behind what was typed before.
#pragma once

#include "llmcalc/read/given.hpp"
#include "llmcalc/search/advice.hpp"

#include <vector>

namespace llmcalc::api {

/// Adds the options that were typed and that hold no longer after the change, with their new values: adapters leave
/// their base without a master copy, so beside "--master-weights 1" they also ask for "--master-weights 0".
void retype(const std::vector<read::Given>& words, const spec::Question& asked, search::Advice& advice);

}  // namespace llmcalc::api
