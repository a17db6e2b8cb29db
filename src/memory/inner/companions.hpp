// What the models and passes beside the trained one take on a pipeline stage.
#pragma once

#include "memory/block_prices.hpp"
#include "program/stage_blocks.hpp"

#include <span>

namespace llmcalc::memory {

struct CompanionStates {
  program::States reference, reward, value;
};

struct CompanionPasses {
  quantity::Bytes kept;     ///< by the value model, whose backward pass follows the trained model's
  quantity::Bytes before;   ///< highest moment of the passes that come before training
  quantity::Bytes in_loss;  ///< highest moment of those that run when the trained model has kept its activations
};

/// \param runs  blocks of the trained model on the stage
CompanionStates companion_states(const BlockPrices& prices, std::span<const program::BlockRun> runs);
CompanionPasses companion_passes(const BlockPrices& prices, const StepRules& rules,
                                 std::span<const program::BlockRun> runs);

}  // namespace llmcalc::memory
