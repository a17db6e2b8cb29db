// The time of one optimizer step: micro-batches through the pipeline, gradients over the data-parallel ranks, update.
//
// Sample (8B, 8 x H100, FSDP, 16 sequences of 4,096):
//   forward + backward  of all micro-batches on the slowest stage, by what bounds them
//   pipeline            activations handed on, as far as nothing hides it, and the bubble
//   data                weights gathered and gradients reduced, as far as nothing hides it
//   optimizer           the update, bound by memory
#pragma once

#include "llmcalc/program/profile.hpp"
#include "llmcalc/program/program.hpp"
#include "llmcalc/spec/question.hpp"
#include "llmcalc/timing/block_time.hpp"

#include <cstdint>
#include <vector>

namespace llmcalc::timing {

struct StepTime {
  PassTime forward;  ///< of all micro-batches on the slowest stage
  PassTime recompute;
  PassTime backward;
  quantity::Seconds pipeline;
  quantity::Seconds bubble;
  quantity::Seconds data;
  quantity::Seconds optimizer;
  quantity::Seconds offload;

  quantity::Seconds total() const;
};

/// Walks every pipeline stage of a program. Blocks are priced once and shared by the stages.
StepTime time_step(const program::Program& program, const spec::Question& question, const program::Profile& profile,
                   const Prices& prices);

}  // namespace llmcalc::timing
