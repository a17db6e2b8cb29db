// What the allocator's blocks hold beyond the tensors that a block keeps for its backward pass.
#pragma once

#include "llmcalc/memory/block_walk.hpp"
#include "llmcalc/program/program.hpp"

namespace llmcalc::memory {

/// Adds it to what the block keeps, and so to its peaks.
void add_activation_slack(const layers::Block& block, BlockWalk& walk);

}  // namespace llmcalc::memory
