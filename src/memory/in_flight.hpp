// Micro-batches whose activations wait on a pipeline stage for their backward pass.
#pragma once

#include "llmcalc/spec/question.hpp"

namespace llmcalc::memory {

/// Bytes kept by the other micro-batches while one is walked.
/// \param layers_kept  by all layers of the stage for one micro-batch
quantity::Bytes activations_in_flight(quantity::Bytes layers_kept, const spec::Question& question, std::int64_t stage);

}  // namespace llmcalc::memory
