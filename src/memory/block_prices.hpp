// What the blocks of a program cost in memory under the rules of a run, each priced once.
//
// What a block's activations take and what its weights take change with different choices: a micro-batch or a recompute
// policy leaves the weights alone, a data-parallel degree the activations. A search keeps both apart and combines them.
// Weights are priced for a way to shard them; what of it a run has by its other rules is decided by the walk.
#pragma once

#include "frameworks/profile.hpp"
#include "memory/block_walk.hpp"
#include "memory/scratch_gradients.hpp"
#include "memory/step_rules.hpp"
#include "program/program.hpp"
#include "program/states.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace llmcalc::memory {

/// The communication buffers of a ZeRO engine (DeepSpeed), which exist whatever the size of the model.
struct ZeroBuffers {
  quantity::Bytes always;
  quantity::Bytes backward;  ///< during the backward pass only
  quantity::Bytes step;      ///< during the optimizer step only
};

/// What the weights of one block take.
struct BlockWeights {
  program::States states;
  quantity::Bytes gathered;        ///< made whole, for those that are sharded or offloaded
  quantity::Bytes flat_gradients;  ///< whole, for those that stay so between micro-batches
};

struct WeightPrices {
  std::vector<BlockWeights> blocks;
  ZeroBuffers zero;
  ScratchGradients scratch;
  quantity::Bytes workspace;  ///< of matrix products

  /// Overwritten for another program; the storage is reused.
  void assign(const program::Program& program, const spec::Question& question, const frameworks::Profile& profile,
              const program::StateSharding& sharding);
};

/// The walks of all blocks; `walks` is overwritten, its storage reused.
void walk_blocks(const program::Program& program, const StepRules& rules, std::vector<BlockWalk>& walks);

/// Everything that the walk over a stage reads of the program.
struct BlockPrices {
  std::span<const BlockWalk> walks;
  const WeightPrices* weights = nullptr;
  std::uint16_t first = 0;  ///< the block before the layers
  std::uint16_t head = 0;   ///< the block behind them, with the loss
  std::span<const program::Companion> companions{};
};

}  // namespace llmcalc::memory
