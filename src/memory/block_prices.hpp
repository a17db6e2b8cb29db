// What the blocks of a program cost in memory under the rules of a run, each priced once.
//
// What a block's activations take and what its weights take change with different choices: a micro-batch or a recompute
// policy leaves the weights alone, a data-parallel degree the activations. A search keeps both apart and combines them.
// Weights are priced for a way to shard them; what of it a run has by its other rules is decided by the walk.
#pragma once

#include "frameworks/profile.hpp"
#include "memory/block_walk.hpp"
#include "program/offload.hpp"
#include "program/program.hpp"
#include "program/sharding.hpp"
#include "program/stage_blocks.hpp"
#include "program/states.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace llmcalc::memory {

struct StepRules {
  program::StateSharding sharding;
  program::Offloaded offload;
  WeightGradients gradients;
  bool differentiates = true;      ///< a backward pass and an optimizer step follow
  bool gradient_buffer = true;     ///< gradients have memory of their own from the start
  bool gradients_resident = true;  ///< they are alive while a micro-batch runs
  bool streams_weights = false;    ///< weights are whole on the accelerator only while their layer runs
  bool gathers_all = false;        ///< ... and all of them at once while samples are made or asked for
  bool flat_gradients = false;     ///< sharded gradients stay whole between micro-batches
  bool asks_in_loss = false;       ///< companions run when the loss is computed, otherwise when samples are made
  bool keeps_last_graph = false;   ///< of the micro-batch before, until the loss of the next one is there
  bool fetches_next_layer = true;  ///< while a layer runs backward, the weights of the one before it are gathered
  bool retains_inputs = false;     ///< checkpointed inputs and their gradients stay to the end of the backward pass
  bool counts_slack = false;       ///< what the allocator's blocks hold beyond kept tensors is counted with them

  bool keeps_whole_gradients() const { return flat_gradients || sharding.gathers_once(); }
};

StepRules step_rules(const spec::Question& question, const frameworks::Profile& profile);

/// One 16-bit scratch gradient a distinct matrix shape, filled by the fused accumulation kernels instead of the real
/// gradient and never given up (TransformerEngine pytorch/module/base.py, get_dummy_wgrad).
class ScratchGradients {
 public:
  void assign(const program::Program& program);
  void clear() { blocks_.clear(); }
  quantity::Bytes of(std::span<const program::BlockRun> runs) const;  ///< of a stage that runs these blocks

 private:
  std::uint64_t mark(const layers::Block& block);

  std::vector<std::pair<std::int64_t, std::int64_t>> shapes_;  ///< rows and columns
  std::array<quantity::Bytes, 64> sizes_{};  ///< of one gradient of each shape; more shapes than that share the last
  std::vector<std::uint64_t> blocks_;        ///< for each block the shapes it has, a bit each
};

/// The communication buffers of a ZeRO engine (DeepSpeed), which exist whatever the size of the model.
struct ZeroBuffers {
  quantity::Bytes always;
  quantity::Bytes backward;  ///< during the backward pass only
  quantity::Bytes step;      ///< during the optimizer step only
};

/// Bytes of the weights of one block.
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
