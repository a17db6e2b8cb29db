// An answer in the form asked for.
#pragma once

#include "cli/outcome.hpp"

namespace llmcalc::cli {

/// \tparam Answer  something that the render room has to_text() and to_json() for
template <class Answer>
Outcome show(const Answer& answer, bool json) {
  return {.answer = json ? to_json(answer, LLMCALC_VERSION) : to_text(answer)};
}

}  // namespace llmcalc::cli
