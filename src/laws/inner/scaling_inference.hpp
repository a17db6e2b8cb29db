// The inference side of a scaling question: memory and bandwidth bound the model, and the model bounds the speed.
#pragma once

#include "laws/scaling.hpp"

#include <vector>

namespace llmcalc::laws {

/// \throws quantity::BadInput for a value that is not above 0 and for one that lacks what it depends on
void check_inference(const ScaleQuestion& question);

/// The largest models that the inference side of the question allows.
std::vector<ScaleLine> inference_limits(const ScaleQuestion& question);

/// What the model weighs and how fast it decodes, where the question says what a weight is.
void add_inference(const ScaleQuestion& question, double params, ScaleAnswer& answer);

}  // namespace llmcalc::laws
