// What a scaling question leaves open, decided: by a law of scaling, by a rule of thumb, or by what is usual.
#pragma once

#include "laws/inner/relation.hpp"
#include "laws/scaling.hpp"

#include <vector>

namespace llmcalc::laws {

/// How parameters and tokens came to be known.
enum class Closing {
  given,  ///< both from what was given
  law,    ///< by the optimum of the law
  rule,   ///< by 20 tokens a parameter
};

/// Which law the question is about.
/// \throws quantity::BadInput when it names one that does not go with its unique tokens
ScalingLaw law_of(const ScaleQuestion& question);

/// The law together with the unique tokens that are known by now.
/// \throws quantity::BadInput when the law needs them and they are not
LawChoice choice_of(ScalingLaw law, const Solver& solver);

/// Leaves parameters, tokens and compute known, and time and cost where the question has what they need.
/// \throws quantity::BadInput when there is nothing to scale from, and when a loss cannot be reached
Closing close(const ScaleQuestion& question, const std::vector<ScaleLine>& limits, Solver& solver, ScaleAnswer& answer);

}  // namespace llmcalc::laws
