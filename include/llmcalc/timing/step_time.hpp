// The time of one optimizer step: micro-batches through the pipeline, gradients over the data-parallel ranks, update.
//
// Sample (8B, 8 x H100, FSDP, 16 sequences of 4,096):
//   forward + backward  of all micro-batches on the slowest stage, by what bounds them
//   pipeline            activations handed on, as far as nothing hides it, and the bubble
//   data                weights gathered and gradients reduced, as far as nothing hides it
//   optimizer           the update, bound by memory
#pragma once

#include "llmcalc/frameworks/profile.hpp"
#include "llmcalc/program/program.hpp"
#include "llmcalc/program/stage_blocks.hpp"
#include "llmcalc/spec/question.hpp"
#include "llmcalc/timing/block_time.hpp"
#include "llmcalc/timing/weight_traffic.hpp"

#include <cstdint>
#include <span>
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

/// What every block of a program costs, each priced once. What its operations take and what its weights take change
/// with different choices; a search keeps both apart and combines them.
struct StepPrices {
  std::span<const BlockTime> times;
  std::span<const WeightTraffic> weights;
  std::uint16_t head = 0;     ///< the block behind the layers
  quantity::Bytes handed_on;  ///< the hidden state that one stage hands to the next
  std::span<const program::Companion> companions{};
};

/// Accelerators of one kind differ in speed by 8 % over a system of some hundred (Sinha et al. 2022, arXiv:2208.11035,
/// matrix products), which is six standard deviations, and a step waits for the slowest: of n normal draws it is the
/// square root of 2 ln n deviations off. What a node of eight has of it is in the prices.
double pace_of_slowest(std::int64_t accelerators);

/// Walks the pipeline stages of a priced program. Allocates nothing.
StepTime time_step(std::span<const program::StageGroup> stages, const StepPrices& costs, const spec::Question& question,
                   const frameworks::Profile& profile, const Prices& prices);

/// Prices a program and walks it.
StepTime time_step(const program::Program& program, const spec::Question& question, const frameworks::Profile& profile,
                   const Prices& prices);

/// The hidden state at the end of the first stage; nothing without a pipeline.
quantity::Bytes handed_on(const program::Program& program);

}  // namespace llmcalc::timing
