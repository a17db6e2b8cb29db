// Layers that share one checkpoint: the first keeps its input, and all are run again before the last one's backward.
#pragma once

#include "memory/block_walk.hpp"

#include <vector>

namespace llmcalc::memory {

/// Replaces the walks of blocks that share a checkpoint with others; those of other blocks stay.
/// \param walks  of the program's blocks, each by itself
void walk_groups(const program::Program& program, const WeightGradients& gradients, std::vector<BlockWalk>& walks);

}  // namespace llmcalc::memory
