// How far a run that fits can grow.
#pragma once

#include "llmcalc/search/advice.hpp"
#include "llmcalc/search/probe.hpp"

namespace llmcalc::search {

/// \pre the question fits the capacity
Headroom headroom(const spec::Question& question, quantity::Bytes capacity, Probe& probe);

}  // namespace llmcalc::search
