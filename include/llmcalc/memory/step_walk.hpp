// The memory of one training step on one accelerator: through forward, loss, backward and optimizer step.
//
// Sample (1B parameters, bf16 with fp32 moments, one sequence):
//   persistent  weights 2.0 GB  gradients 2.0 GB  optimizer 8.0 GB
//   forward     persistent + what the layers so far have kept + the widest moment of the layer that runs
//   loss        the same with all layers kept, plus logits
//   backward    falls layer by layer; where gradients are made on the way they rise as activations fall
//   optimizer   persistent + gradients + the step's temporaries
#pragma once

#include "llmcalc/memory/phase.hpp"
#include "llmcalc/memory/states.hpp"
#include "llmcalc/program/build.hpp"

#include <array>
#include <cstdint>

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

struct StepMemory {
  Moment persistent;                             ///< between steps
  std::array<PhasePeak, phase_count> steady;     ///< one peak a phase, in the order of Phase
  std::array<PhasePeak, phase_count> first_step; ///< the same before the optimizer has made its states

  const PhasePeak& peak() const;        ///< the highest of `steady`; the earliest of equals
  const PhasePeak& first_peak() const;  ///< the highest of `first_step`
};

/// Walks a program. `training` decides how gradients and optimizer states are kept, `profile` which buffers exist.
StepMemory walk_step(const program::Program& program, const spec::Training& training, const program::Profile& profile);

}  // namespace llmcalc::memory
