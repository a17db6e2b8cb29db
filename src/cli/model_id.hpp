// The model that a file names: in the Hub's cache, a preset, or on the Hub.
#pragma once

#include "dialects/reading.hpp"
#include "read/presets.hpp"

#include <vector>

namespace llmcalc::cli {

/// How far a name is followed.
struct Lookup {
  bool offline = false;
  bool answers = true;  ///< false where the question is only shown: a name in a file stays one of the Hub
};

/// Puts the preset's name, or the configuration that was found, in the place of a name that is no preset's. Nothing is
/// looked up where an option names the model.
void find_model(dialects::Reading& reading, const std::vector<read::Given>& options, const read::Catalogue& catalogue,
                Lookup lookup);

}  // namespace llmcalc::cli
