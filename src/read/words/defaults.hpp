// What the framework does when its user says nothing, taken as if it had been said.
#pragma once

#include "read/words/draft.hpp"

#include <string_view>

namespace llmcalc::read {

/// Applies the framework's default of a term that nobody said. \return whether there is one
/// \pre what its condition asks for is complete
bool take_default(Draft& draft, std::string_view term);

/// Says what of --framework-version was not understood.
/// \throws quantity::BadInput where a person typed it and nothing was
void take_software(Draft& draft);

}  // namespace llmcalc::read
