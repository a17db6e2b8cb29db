// The size of a model that nobody has asked to run.
#pragma once

#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/spec/shape.hpp"
#include "program/count.hpp"

namespace llmcalc::answer {

SizeAnswer size_answer(const program::Size& size);

/// Counted as an estimate counts: from the step program of the plainest run.
/// \throws quantity::BadInput when the shape is none (spec::build_model)
SizeAnswer model_size(const spec::Shape& shape);

}  // namespace llmcalc::answer
