// What a training run and a server have in common on the way to the effective question.
#pragma once

#include "llmcalc/read/vocabulary.hpp"
#include "read/words/draft.hpp"

#include <span>
#include <vector>

namespace llmcalc::read {

void take_gpu(Draft& draft);

/// Expands the shape; a mistake in a dimension is reported where that dimension was said.
void build(Draft& draft);

/// Every term that applies with its value and where that is from, behind the shorthands that were given.
std::vector<Echo> echo(const Draft& draft, std::span<const Term> terms);

}  // namespace llmcalc::read
