// Which models an algorithm needs beside the trained one.
#pragma once

#include "read/words/draft.hpp"

namespace llmcalc::read {

/// The reference that an algorithm implies. \pre the method is known
void complete_algorithm(Draft& draft);

/// Refuses references that the algorithm has no use for, and algorithms that their reference cannot serve.
void check_algorithm(const Draft& draft);

}  // namespace llmcalc::read
