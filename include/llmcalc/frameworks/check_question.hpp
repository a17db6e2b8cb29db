// Invariants of a question, for whoever puts one together without the words that are read into one.
#pragma once

#include "llmcalc/spec/question.hpp"

namespace llmcalc::frameworks {

/// \throws quantity::BadInput naming the term that is missing, out of range or contradicts another
void check_question(const spec::Question& question);

}  // namespace llmcalc::frameworks
