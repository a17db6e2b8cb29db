// What one pipeline rank holds, and what of it is there at every moment of a step. stage_walk.cpp goes through the
// moments, stage_needs.cpp compares stages.
#pragma once

#include "memory/block_prices.hpp"
#include "memory/stage_walk.hpp"
#include "program/stage_blocks.hpp"

namespace llmcalc::memory {

struct CompanionStates {
  program::States reference, reward, value;
};

struct CompanionPasses {
  quantity::Bytes kept;     ///< by the value model, whose backward pass follows the trained model's
  quantity::Bytes before;   ///< highest moment of the passes that come before training
  quantity::Bytes in_loss;  ///< highest moment of those that run when the trained model has kept its activations
};

/// States that stay from step to step on the accelerator: all but gradients.
quantity::Bytes resting(const program::States& states);

/// A stage as the passes of one micro-batch see it.
struct StageWalk::Passes {
  BlockRuns runs;  ///< in forward order
  std::int64_t blocks = 0;
  Kept kept{};                   ///< by all its blocks for one micro-batch
  quantity::Bytes in_flight{};   ///< kept by other micro-batches that are forwarded and not yet backwarded
  quantity::Bytes last_graph{};  ///< held by the nodes of the micro-batch before
  quantity::Bytes root{};        ///< weights whole while layers run: of the unit outside the layers, or of all
  CompanionPasses companions{};
};

/// Weights and checkpoints that come for the block that runs backward next, while another runs.
struct StageWalk::Arrival {
  quantity::Bytes activations, weights;
};

/// Remains of the backward pass of one block.
struct StageWalk::Growth {
  quantity::Bytes activations, gradients, logits;
};

/// Memory that one pipeline rank holds besides the blocks' own walks.
struct StageWalk::Stage {
  Passes passes;
  program::States states{};
  CompanionStates companions{};
  quantity::Bytes flat_gradients{};
  quantity::Bytes buffers{};        ///< while micro-batches run
  quantity::Bytes between_steps{};  ///< buffers once they have run
  quantity::Bytes scratch{};        ///< gradients that are there from the first backward pass on
  quantity::Bytes slack{};          ///< of the allocator's blocks beyond weights and master weights
  quantity::Bytes moment_slack{};   ///< and beyond the optimizer's states
  program::Elsewhere elsewhere{};
};

}  // namespace llmcalc::memory
