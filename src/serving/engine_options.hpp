// What each engine is told, and what it calls it: options that not every engine has.
#pragma once

#include "llmcalc/spec/question.hpp"

namespace llmcalc::serving {

/// Refuses what was said to an engine that has no such option, with what says the same there, or the engines that have
/// it. Throws quantity::BadInput at the option.
void check_options(const spec::Serving& serving);

/// True if the engine has every option that was said.
bool takes_options(const spec::Serving& serving);

}  // namespace llmcalc::serving
