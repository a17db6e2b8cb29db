// How the stages of a pipeline work one after the other.
#pragma once

#include "llmcalc/spec/layout.hpp"
#include "timing/block_time.hpp"
#include "timing/step_time.hpp"

namespace llmcalc::timing {

/// What one micro-batch takes on one stage.
struct StageTime {
  PassTime forward;
  PassTime recompute;
  PassTime backward;
  quantity::Seconds weight_gradients;  ///< of the backward pass, what no other stage waits for
  quantity::Seconds gathering;         ///< weights and gradients on their way that no block's work hides
  quantity::Seconds offloading;        ///< to and from the host, likewise

  quantity::Seconds total() const {
    return forward.total() + recompute.total() + backward.total() + gathering + offloading;
  }
  MicroBatchTime pace() const { return {total(), weight_gradients}; }
};

/// What a micro-batch of a stage adds to the filling and draining of the pipeline.
quantity::Seconds share_of_bubble(const MicroBatchTime& stage, const spec::Layout& layout);

/// Activations and their gradients between stages that nothing hides. \param hand_over  of one of them
quantity::Seconds handing_on(const spec::Layout& layout, std::int64_t micro_batches, quantity::Seconds hand_over);

}  // namespace llmcalc::timing
