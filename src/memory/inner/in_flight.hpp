// Micro-batches whose activations wait on a pipeline stage while another one is walked.
#pragma once

#include "llmcalc/spec/question.hpp"
#include "memory/stage_needs.hpp"

namespace llmcalc::memory {

/// Bytes kept by the other micro-batches while one is walked.
quantity::Bytes activations_in_flight(const Kept& kept, const spec::Question& question, std::int64_t stage);

/// What of them is on the host: as much as of the micro-batch that is walked.
quantity::Bytes left_of(quantity::Bytes in_flight, const Kept& kept);

}  // namespace llmcalc::memory
