// How the stages of a pipeline work one after the other.
#pragma once

#include "llmcalc/spec/layout.hpp"
#include "llmcalc/spec/question.hpp"
#include "program/offload.hpp"
#include "timing/block_time.hpp"
#include "timing/step_time.hpp"
#include "timing/weight_traffic.hpp"

namespace llmcalc::timing {

/// Times of one micro-batch on one stage.
struct StageTime : Passes {
  quantity::Seconds gathering;   ///< weights and gradients on their way that no block's work hides
  quantity::Seconds offloading;  ///< to and from the host, likewise

  quantity::Seconds total() const {
    return forward.total() + recompute.total() + backward.total() + gathering + offloading;
  }
  MicroBatchTime pace() const { return {total(), weight_gradients}; }
};

/// Share of a stage's micro-batch in the filling and draining of the pipeline.
quantity::Seconds share_of_bubble(const MicroBatchTime& stage, const spec::Layout& layout);

/// Activations and their gradients between stages that nothing hides. \param hand_over  of one of them
quantity::Seconds handing_on(const spec::Layout& layout, std::int64_t micro_batches, quantity::Seconds hand_over);

/// Streaming of one micro-batch: weights come in for each pass, saved activations leave in one and return in the other,
/// as far as the pass does not hide it.
quantity::Seconds streaming(const program::Offloaded& offload, const spec::Question& question,
                            const WeightTraffic& weights, quantity::Bytes saved, const StageTime& stage);

/// Update of one step on the host: gradients there, the update, and the weights back.
quantity::Seconds host_update(const program::Offloaded& offload, const spec::Question& question,
                              const WeightTraffic& weights);

}  // namespace llmcalc::timing
