// The time of one optimizer step: micro-batches through the pipeline, gradients over the data-parallel ranks, update.
//
// Sample (8B, 8 x H100, FSDP, 16 sequences of 4,096):
//   forward + backward  of all micro-batches on the slowest stage, by what bounds them
//   pipeline            activations handed on, as far as nothing hides it, and the bubble
//   data                weights gathered and gradients reduced, as far as nothing hides it
//   optimizer           the update, bound by memory
#pragma once

#include "frameworks/profile.hpp"
#include "llmcalc/spec/question.hpp"
#include "program/program.hpp"
#include "program/stage_blocks.hpp"
#include "timing/block_time.hpp"
#include "timing/weight_traffic.hpp"

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
  quantity::Seconds update_dispatch;  ///< what the host needs to hand the update over, a part of `optimizer` or hidden

  quantity::Seconds passes() const { return forward.total() + recompute.total() + backward.total(); }
  quantity::Seconds total() const;

  /// How much longer the step takes on a host that hands work over so many `times` as slowly, as a share of it.
  /// \param waits  for each kernel before it hands over the next
  double growth_on_slower_host(double times, bool waits) const;
};

/// Times of one micro-batch on a stage.
struct MicroBatchTime {
  quantity::Seconds total;
  quantity::Seconds weight_gradients;  ///< of these, what no other stage waits for
};

/// Times of a pipeline before it is said in which order and in how many chunks its micro-batches run, so that a
/// search walks its stages once for all of them.
struct PipelineTimes {
  /// Stages of one pace.
  struct Group {
    MicroBatchTime pace;
    std::int64_t stages = 1;
  };
  std::vector<Group> groups;
  MicroBatchTime slowest;
  StepTime step;                ///< without pipeline and bubble
  quantity::Seconds passes;     ///< of the step
  quantity::Seconds hand_over;  ///< of one activation from a stage to the next

  /// Time of the step in the order that the layout says.
  quantity::Seconds total(const spec::Layout& layout, std::int64_t micro_batches) const;
};

/// Costs of every block of a program, each priced once. What its operations take and what its weights take change
/// with different choices; a search keeps both apart and combines them.
struct StepPrices {
  std::span<const BlockTime> times;
  std::span<const DataTraffic> traffic;  ///< of each block, where weights are gathered for it
  std::uint16_t head = 0;                ///< the block behind the layers
  quantity::Bytes handed_on;             ///< the hidden state that one stage hands to the next
};

/// Traffic of the weights of a stage, whatever its micro-batches do.
struct StageTraffic {
  WeightTraffic weights;
  DataTraffic exchange;           ///< of all of them at once
  quantity::Seconds copies;       ///< in memory around their exchange
  quantity::Seconds around;       ///< passes over the gradients before and after they are reduced
  quantity::Seconds accumulated;  ///< a micro-batch's gradients added to those before
  quantity::Seconds update;
};

/// Sums over the blocks of each stage; `work` is overwritten, its storage reused.
void add_up_work(std::span<const program::StageGroup> stages, std::span<const BlockTime> times,
                 std::span<const program::Companion> companions, const spec::Question& question,
                 const frameworks::Profile& profile, std::vector<Passes>& work);

/// Adds up the traffic of their weights.
void add_up_traffic(std::span<const program::StageGroup> stages, std::span<const WeightTraffic> weights,
                    std::span<const program::Companion> companions, const spec::Question& question,
                    const frameworks::Profile& profile, const Prices& prices, std::vector<StageTraffic>& traffic);

/// The exchanges of each block for itself, where sharded weights are gathered for it; `traffic` is overwritten.
void time_traffic(std::span<const WeightTraffic> weights, const spec::Question& question,
                  const frameworks::Profile& profile, const Prices& prices, std::vector<DataTraffic>& traffic);

/// Accelerators of one kind differ in speed by 8 % over a system of some hundred (Sinha et al. 2022, arXiv:2208.11035,
/// matrix products), which is six standard deviations, and a step waits for the slowest. The largest of n normal draws
/// is expected at the quantile (n - 3/8) / (n + 1/4) (Blom 1958), for which Tukey's lambda distribution stands (Ramberg
/// and Schmeiser 1972).
double pace_of_slowest(std::int64_t accelerators);

/// The stages of a pipeline, and of each what was added up.
struct PricedStages {
  std::span<const program::StageGroup> groups;
  std::span<const Passes> work;
  std::span<const StageTraffic> traffic;
};

/// Walks the pipeline stages of a priced program. `times` is overwritten, its storage reused.
void time_stages(const PricedStages& stages, const StepPrices& costs, const spec::Question& question,
                 const frameworks::Profile& profile, const Prices& prices, PipelineTimes& times);

/// The passes of these blocks, one after the other.
Passes sum_of(std::span<const std::uint16_t> sequence, std::span<const BlockTime> times);

/// Parts of its passes that a way to run a layout can hide.
struct Hides {
  bool host = false;
  bool experts = false;
  bool between_nodes = false;  ///< of the experts' exchanges, which are hidden in part there
};

/// Least time that these passes take in any such way; nothing waits for weights either.
quantity::Seconds least_time(const Passes& passes, const Hides& hides);

/// Likewise stages, in any order.
void least_times(std::span<const program::StageGroup> stages, std::span<const Passes> work, const Hides& hides,
                 const spec::Question& question, PipelineTimes& times);

/// Each block of a program for itself, in one micro-batch.
std::vector<BlockTime> time_blocks(const program::Program& program, const Prices& prices);

/// A block among accelerators of unequal speed, with every forward pass that the trainer makes of it: what a stage adds
/// up.
BlockTime paced(const BlockTime& block, const spec::Question& question, const frameworks::Profile& profile);

/// Walks a program whose blocks have been timed.
StepTime time_step(const program::Program& program, std::span<const BlockTime> times, const spec::Question& question,
                   const frameworks::Profile& profile, const Prices& prices);

/// The hidden state at the end of the first stage; nothing without a pipeline.
/// \param blocks  of the program, or of another that has the same ones
quantity::Bytes handed_on(const program::Program& program, std::span<const layers::Block> blocks);

}  // namespace llmcalc::timing
