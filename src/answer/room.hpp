// How far a run that fits can grow.
#pragma once

#include "answer/probe.hpp"
#include "llmcalc/answer/advice.hpp"

namespace llmcalc::answer {

/// \pre the question fits the capacity
Room room(const spec::Question& question, quantity::Bytes capacity, Probe& probe);

}  // namespace llmcalc::answer
