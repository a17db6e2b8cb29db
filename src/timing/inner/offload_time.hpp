// What it takes to move states and activations to the host or its drives and back.
#pragma once

#include "llmcalc/spec/question.hpp"
#include "program/offload.hpp"
#include "timing/inner/pipeline.hpp"
#include "timing/weight_traffic.hpp"

namespace llmcalc::timing {

/// Of one micro-batch: weights come in for each pass, saved activations leave in one and return in the other, as far as
/// the pass does not hide it.
quantity::Seconds streaming(const program::Offloaded& offload, const spec::Question& question,
                            const WeightTraffic& weights, quantity::Bytes saved, const StageTime& stage);

/// Of one step: gradients to the host, the update there, and the weights back.
quantity::Seconds host_update(const program::Offloaded& offload, const spec::Question& question,
                              const WeightTraffic& weights);

}  // namespace llmcalc::timing
