// Questions for tests, as one would type them.
#pragma once

#include "llmcalc/answer/estimate.hpp"
#include "read/typed.hpp"

#include <string_view>

namespace llmcalc::test {

inline spec::Question question(std::string_view line) { return ask(line).question; }

inline answer::Estimate advised(const spec::Question& question, const answer::LargerAccelerators& larger = {}) {
  auto estimate = answer::estimate(question);
  answer::advise(question, larger, estimate);
  return estimate;
}

}  // namespace llmcalc::test
