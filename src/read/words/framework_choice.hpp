// Which framework a question is about that names none: the layout decides (docs/frameworks.md has the table).
#pragma once

#include "read/words/draft.hpp"

namespace llmcalc::read {

/// Sets the framework, with its origin, where nobody said one.
/// \pre the words of the run are taken
void choose_framework(Draft& draft);

}  // namespace llmcalc::read
