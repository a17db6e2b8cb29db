// The model that a file names: in the Hub's cache, a preset, or on the Hub.
#pragma once

#include "api/surroundings.hpp"

#include <vector>

namespace llmcalc::cli {

/// Puts the preset's name, or the configuration that was found, in the place of a name that is no preset's. Nothing is
/// looked up where an option names the model.
void find_model(dialects::Reading& reading, const std::vector<read::Given>& options, const read::Catalogue& catalogue,
                api::Lookup lookup);

}  // namespace llmcalc::cli
