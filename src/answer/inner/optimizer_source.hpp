// Where the states of each optimizer are written down.
#pragma once

#include "llmcalc/spec/training.hpp"

#include <string_view>

namespace llmcalc::answer {

/// What an optimizer keeps for a parameter, and the paper or file that says so.
std::string_view source_of(spec::Optimizer optimizer);

}  // namespace llmcalc::answer
