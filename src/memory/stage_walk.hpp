// The memory of one training step on one pipeline stage: through forward, loss, backward and optimizer step.
//
// Sample (1B parameters, bf16 with fp32 moments, one sequence):
//   persistent  weights 2.0 GB  gradients 2.0 GB  optimizer 8.0 GB
//   forward     persistent + what the layers so far have kept + the widest moment of the layer that runs
//   loss        the same with all layers kept, plus logits
//   backward    falls layer by layer; where gradients are made on the way they rise as activations fall
//   optimizer   persistent + gradients + the step's temporaries
//
// From one of several equal blocks to the next every part grows or falls by the same bytes, so that the highest is
// one of the first two or the last two: a walk costs as many steps as a stage has kinds of blocks.
#pragma once

#include "llmcalc/memory/phase.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "memory/block_prices.hpp"
#include "memory/checkpoint.hpp"
#include "program/stage_blocks.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace llmcalc::memory {

// What a pipeline stage needs at its highest moments, before it is said in which order micro-batches run.
//
// The order (1F1B, GPipe, zero bubble), the virtual stages and the place in the pipeline decide how many other
// micro-batches wait on a stage and nothing else, so a search walks a stage once for all of them.

/// Activations that one micro-batch keeps on a stage.
struct Kept {
  quantity::Bytes layers;    ///< between its forward and its backward pass, but for the head
  quantity::Bytes head;      ///< the same of the head and loss
  quantity::Bytes deferred;  ///< from its backward pass until its weights' gradients are made
  quantity::Bytes left;      ///< of layers and head, what is on the host until its backward pass
  quantity::Bytes buffers;   ///< of micro-batches, which last for the run; beside layers and head

  quantity::Bytes total() const { return layers + head; }
};

/// Memory of its states and buffers, whatever its activations do.
struct StageRest {
  quantity::Bytes resident;  ///< in every moment of the passes
  quantity::Bytes root;      ///< beside that while layers run: weights that are whole for all of them
  quantity::Bytes update;    ///< in the optimizer step
  quantity::Bytes host;      ///< in the memory of the machine: states that are offloaded, and paged ones
};

struct StageNeeds {
  StageRest rest;
  Kept kept;
  quantity::Bytes before;       ///< beside what is resident when models run whose answers the passes need
  quantity::Bytes micro_batch;  ///< beside it at the highest moment of one micro-batch, without the other ones
};

inline constexpr std::size_t phase_count = 6;

/// Memory alive at one moment, by purpose. Sums to what the framework's allocator counts as allocated.
struct Moment {
  quantity::Bytes weights, adapters, master, gradients, optimizer, activations, logits, temporaries, workspace;
  quantity::Bytes reference, reward, value;  ///< all states of the models beside the trained one

  /// Memory that rests between steps, and gradients.
  quantity::Bytes states() const {
    return weights + adapters + master + gradients + optimizer + reference + reward + value;
  }
  quantity::Bytes total() const { return states() + activations + logits + temporaries + workspace; }
};

/// A part of a moment, and what it is held for.
struct MomentPart {
  Holding holding;
  quantity::Bytes Moment::*size;
};

inline constexpr MomentPart parts_of_moment[] = {
    {Holding::weights, &Moment::weights},
    {Holding::adapters, &Moment::adapters},
    {Holding::master_weights, &Moment::master},
    {Holding::gradients, &Moment::gradients},
    {Holding::optimizer_states, &Moment::optimizer},
    {Holding::reference_model, &Moment::reference},
    {Holding::reward_model, &Moment::reward},
    {Holding::value_model, &Moment::value},
    {Holding::activations, &Moment::activations},
    {Holding::logits, &Moment::logits},
    {Holding::temporaries, &Moment::temporaries},
    {Holding::workspace, &Moment::workspace},
};

struct PeakMoment {
  Phase phase = Phase::forward;
  std::int64_t position = 0;  ///< index into the program's sequence of blocks; 0 for the optimizer step
  Moment alive;
};

/// One moment of a steady step; the highest of all is the peak.
struct BlockPeak {
  Phase phase = Phase::forward;
  std::int64_t position = 0;  ///< as in PeakMoment
  Moment alive;
  bool beside = false;  ///< models beside the trained one pass, while it waits

  quantity::Bytes allocated() const { return alive.total(); }
};

struct StepMemory {
  std::int64_t stage = 0;                          ///< pipeline rank
  Moment persistent;                               ///< between steps
  std::array<PeakMoment, phase_count> steady;      ///< one peak a phase, in the order of Phase
  std::array<PeakMoment, phase_count> first_step;  ///< the same before the optimizer has made its states
  quantity::Bytes host;       ///< what rests in the memory of the host instead: offloaded states and activations
  quantity::Bytes nvme;       ///< what rests on drives
  CheckpointNeeds saving;     ///< beside all that, while a checkpoint is written
  quantity::Bytes gathering;  ///< of weights made whole at once: those outside the layers, and a layer's
  quantity::Bytes loading;    ///< of temporaries that made the model, whose blocks the allocator has from then on
  quantity::Bytes paged;      ///< optimizer states in managed memory, on the accelerator only while it has room

  const PeakMoment& peak() const;        ///< the highest of `steady`; the earliest of equals
  const PeakMoment& first_peak() const;  ///< the highest of `first_step`
};

using BlockRuns = std::span<const program::BlockRun>;

/// Walks stages whose blocks have been priced. Positions count the blocks of the stage, an index the stages of the
/// pipeline.
class StageWalk {
 public:
  StageWalk(const BlockPrices& prices, const StepRules& rules, const spec::Question& question,
            const frameworks::Profile& profile)
      : prices_(prices), rules_(rules), question_(question), profile_(profile) {}

  StepMemory walk(BlockRuns runs, std::int64_t index) const;

  /// Needs that follow from weights alone, whatever the walks of their blocks. Allocates nothing.
  StageRest rest(BlockRuns runs) const;

  /// Needs that follow from neither the schedule nor the virtual stages of the question. Allocates nothing.
  StageNeeds needs(BlockRuns runs, const StageRest& rest) const;

  /// Memory that a stage with these needs takes at its highest moment in a steady step.
  quantity::Bytes peak(const StageNeeds& needs, std::int64_t index) const;

  /// Peak of a stage alone: no less than this wherever it stands in a pipeline.
  quantity::Bytes peak(const StageNeeds& needs) const;

  /// The stage that peaks highest in a steady step, the first of equals, and its peak. Of stages that run the same
  /// blocks the first or the last has most micro-batches in flight, and nothing else tells them apart: 1F1B keeps ever
  /// fewer from stage to stage, GPipe as many, zero-bubble schedules more or fewer by turns of one sign.
  /// \param needs  of each group
  StagePeak worst(std::span<const program::StageGroup> groups, std::span<const StageNeeds> needs) const;
  StagePeak worst(std::span<const program::StageGroup> groups) const;

  /// The most that a rank of any of these stages has in the memory of its machine: what is offloaded to it, and paged
  /// states, for which the accelerator keeps no room.
  /// \param needs  of each group
  quantity::Bytes highest_host(std::span<const program::StageGroup> groups, std::span<const StageNeeds> needs) const;
  quantity::Bytes highest_host(std::span<const program::StageGroup> groups) const;

  /// The highest moment of each block in time order: up through forward and loss, down through backward, the optimizer.
  std::vector<BlockPeak> timeline(BlockRuns runs, std::int64_t index) const;

 private:
  struct Passes;
  struct Stage;
  struct Growth;
  struct Arrival;
  enum class Visits { highest, all };

  std::vector<StageNeeds> needs_of(std::span<const program::StageGroup> groups) const;
  quantity::Bytes host(const StageNeeds& needs, std::int64_t index) const;
  Passes passes_of(BlockRuns runs) const;
  Stage lay_out(BlockRuns runs) const;
  void add_states(Stage& stage) const;
  void place(Stage& stage, std::int64_t index) const;
  std::int64_t trained_parameters(const program::States& states) const;
  void add_companions(Stage& stage) const;
  Moment resident(const Stage& stage) const;
  std::array<PeakMoment, phase_count> phases(const Stage& stage, const Moment& resident) const;
  /// Calls visit(phase, position, alive) at the highest moment of every block before the optimizer step, in time order.
  /// `Alive` is a Moment, or the sum of one.
  template <class Alive, class Visit>
  void visit_step(const Passes& stage, const Alive& resident, Visits visits, const Visit& visit) const;
  template <class Alive, class Visit>
  void visit_passes(const Passes& stage, const Alive& resident, Visits visits, const Visit& visit) const;
  template <class Alive, class Visit>
  void forward(const Passes& stage, Alive alive, Visits visits, const Visit& visit) const;
  template <class Alive, class Visit>
  void backward(const Passes& stage, Alive alive, Visits visits, const Visit& visit) const;
  template <class Alive>
  void add_backward_peak(std::uint16_t block, bool left, Alive& alive) const;
  Arrival arriving(std::uint16_t block, bool left) const;
  std::int64_t leaving_blocks(const Passes& stage, std::size_t run) const;
  bool comes_into_buffer(std::uint16_t block) const;
  quantity::Bytes checkpoint_buffers(const Passes& stage) const;
  bool last_leaves(const Passes& stage, std::size_t run) const;
  Moment optimizer_step(const Stage& stage) const;
  quantity::Bytes step_temporaries(const Stage& stage) const;
  Growth left_by(std::uint16_t block) const;
  quantity::Bytes gradients_left_by(std::uint16_t block) const;
  bool is_head(std::uint16_t block) const { return block == prices_.head; }
  bool is_layer(std::uint16_t block) const { return block != prices_.first && !is_head(block); }
  /// FSDP gathers the blocks outside the layers once, as one unit; DeepSpeed gathers tensor by tensor.
  bool is_root(std::uint16_t block) const {
    const bool is_table = block == prices_.first && !profile_.exchange.gathers_table_apart;
    return profile_.exchange.zero.prefetch_bucket == 0 && (is_table || is_head(block));
  }
  /// Outside the layers, where weights are one unit, and everywhere if no layer gives its weights back.
  bool stays_whole(std::uint16_t block) const { return !question_.layout.reshard || is_root(block); }
  quantity::Bytes gathered(std::uint16_t block) const {
    return !rules_.streams_weights || stays_whole(block) ? quantity::Bytes{} : weights_of(block).gathered;
  }
  quantity::Bytes gathered_at_once(BlockRuns runs) const;
  quantity::Bytes flat_gradients(std::uint16_t block) const {
    return rules_.keeps_whole_gradients() ? weights_of(block).flat_gradients : quantity::Bytes{};
  }
  quantity::Bytes prefetched(std::uint16_t block) const;
  const BlockWalk& walk_of(std::uint16_t block) const { return prices_.walks[block]; }
  const BlockWeights& weights_of(std::uint16_t block) const { return prices_.weights->blocks[block]; }

  BlockPrices prices_;
  const StepRules& rules_;
  const spec::Question& question_;
  const frameworks::Profile& profile_;
};

}  // namespace llmcalc::memory
