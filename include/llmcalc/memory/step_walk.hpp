// The memory of one training step on one rank: through forward, loss, backward and optimizer step.
//
// Sample (1B parameters, bf16 with fp32 moments, one sequence):
//   persistent  weights 2.0 GB  gradients 2.0 GB  optimizer 8.0 GB
//   forward     persistent + what the layers so far have kept + the widest moment of the layer that runs
//   loss        the same with all layers kept, plus logits
//   backward    falls layer by layer; where gradients are made on the way they rise as activations fall
//   optimizer   persistent + gradients + the step's temporaries
#pragma once

#include "llmcalc/memory/block_walk.hpp"
#include "llmcalc/memory/offload.hpp"
#include "llmcalc/memory/phase.hpp"
#include "llmcalc/program/build.hpp"
#include "llmcalc/program/states.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace llmcalc::memory {

inline constexpr std::size_t phase_count = 4;

/// What is alive at one moment, by purpose. Sums to what the framework's allocator counts as allocated.
struct Moment {
  quantity::Bytes weights, master, gradients, optimizer, activations, logits, temporaries, workspace;

  quantity::Bytes total() const;
};

struct PhasePeak {
  Phase phase = Phase::forward;
  std::int64_t position = 0;  ///< index into the program's sequence of blocks; 0 for the optimizer step
  Moment alive;
};

/// One moment of a steady step; the highest of all is the peak.
struct TimelinePoint {
  Phase phase = Phase::forward;
  std::int64_t position = 0;  ///< as in PhasePeak
  quantity::Bytes allocated;
};

struct StepMemory {
  std::int64_t stage = 0;                         ///< pipeline rank
  Moment persistent;                              ///< between steps
  std::array<PhasePeak, phase_count> steady;      ///< one peak a phase, in the order of Phase
  std::array<PhasePeak, phase_count> first_step;  ///< the same before the optimizer has made its states
  quantity::Bytes host;   ///< what rests in the memory of the host instead: offloaded states and activations
  quantity::Bytes paged;  ///< optimizer states in managed memory, on the accelerator only while it has room

  const PhasePeak& peak() const;        ///< the highest of `steady`; the earliest of equals
  const PhasePeak& first_peak() const;  ///< the highest of `first_step`
};

/// Walks every pipeline stage of a program. Blocks are walked once and shared by the stages.
class StepWalk {
 public:
  StepWalk(const program::Program& program, const spec::Question& question, const program::Profile& profile);

  StepMemory walk(std::int64_t stage) const;

  /// The highest moment of each block in time order: up through forward and loss, down through backward, the optimizer.
  std::vector<TimelinePoint> timeline(std::int64_t stage) const;

 private:
  struct Stage;
  Stage lay_out(std::int64_t stage) const;
  Moment resident(const Stage& stage) const;
  std::array<PhasePeak, phase_count> phases(const Stage& stage, const Moment& resident) const;
  /// Calls visit(phase, position, moment) at the highest moment of every block, in time order.
  template <class Visit>
  void visit_step(const Stage& stage, const Moment& resident, const Visit& visit) const;
  template <class Visit>
  void forward(const Stage& stage, const Moment& resident, const Visit& visit) const;
  template <class Visit>
  void backward(const Stage& stage, const Moment& resident, const Visit& visit) const;
  Moment optimizer_step(const Stage& stage) const;
  quantity::Bytes step_temporaries(const Stage& stage) const;
  quantity::Bytes left_behind(std::size_t position) const;
  bool is_head(std::size_t position) const { return position + 1 == program_.sequence.size(); }
  /// FSDP gathers the blocks outside the layers once, as one unit; DeepSpeed gathers tensor by tensor.
  bool is_root(std::size_t position) const {
    return profile_.zero.prefetch_bucket == 0 && (position == 0 || is_head(position));
  }
  quantity::Bytes prefetched(std::size_t position) const;
  quantity::Bytes gathered(std::size_t position) const {
    return is_root(position) ? quantity::bytes(0) : gathered_[program_.sequence[position]];
  }
  const BlockWalk& at(std::size_t position) const { return walks_[program_.sequence[position]]; }

  const program::Program& program_;
  const spec::Question& question_;
  const program::Profile& profile_;
  program::Sharding sharding_;
  Offload offload_;
  std::vector<BlockWalk> walks_;
  std::vector<program::States> states_;
  std::vector<quantity::Bytes> flat_gradients_;  ///< of each block, where they stay whole between micro-batches
  std::vector<quantity::Bytes> gathered_;        ///< of each block, its weights made whole for the time it runs
  bool differentiates_;                          ///< a backward pass and an optimizer step follow
  bool gradients_resident_;
  bool streams_weights_;  ///< weights are whole on the accelerator only while their layer runs
  bool retains_inputs_;   ///< checkpointed inputs and their gradients stay to the end of the backward pass
};

}  // namespace llmcalc::memory
