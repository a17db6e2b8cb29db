// Invariants of a question, for whoever puts one together without the words that are read into one.
#pragma once

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::frameworks {

/// \throws quantity::BadInput naming the term that is missing, out of range or contradicts another
void check_question(const spec::Question& question);

}  // namespace llmcalc::frameworks
