// Where the shape of the model comes from: a preset, a config.json, a size, or the words themselves.
#pragma once

#include "llmcalc/read/resolve.hpp"
#include "read/words/draft.hpp"

#include <optional>

namespace llmcalc::read {

/// Takes the shape from the one source that was named, then the words that override it, then what follows from those.
/// \throws quantity::BadInput when there is no source, more than one, or a dimension is missing
void take_model(Draft& draft, const std::optional<ConfigText>& config);

}  // namespace llmcalc::read
