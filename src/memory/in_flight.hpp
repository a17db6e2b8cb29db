// Micro-batches whose activations wait on a pipeline stage while another one is walked.
#pragma once

#include "llmcalc/spec/question.hpp"

namespace llmcalc::memory {

/// What one micro-batch keeps on a stage.
struct Kept {
  quantity::Bytes layers;    ///< between its forward and its backward pass, but for the head
  quantity::Bytes head;      ///< the same of the head and loss
  quantity::Bytes deferred;  ///< from its backward pass until its weights' gradients are made
};

/// Bytes kept by the other micro-batches while one is walked.
quantity::Bytes activations_in_flight(const Kept& kept, const spec::Question& question, std::int64_t stage);

}  // namespace llmcalc::memory
