// Questions for tests, as one would type them.
#pragma once

#include "llmcalc/answer/estimate.hpp"
#include "read/typed.hpp"

#include <string_view>

namespace llmcalc::test {

inline spec::Question question(std::string_view line) { return ask(line).question; }

}  // namespace llmcalc::test
