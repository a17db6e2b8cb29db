// How far a run that fits can grow.
#pragma once

#include "search/advice.hpp"
#include "search/probe.hpp"

namespace llmcalc::search {

/// \param verdict  on the question: a run that fits stays sure to, one that is tight stays likely to
/// \pre it fits, or is tight
Headroom headroom(const spec::Question& question, const answer::Verdict& verdict, Probe& probe);

}  // namespace llmcalc::search
