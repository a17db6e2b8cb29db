#include "memory/inner/recompute_groups.hpp"

namespace llmcalc::memory {

using quantity::Bytes;
using quantity::bytes;

namespace {

/// The walk of a checkpointed block as if it kept what it makes, which it does once it has been run again.
BlockWalk open_walk(layers::Block block, const WeightGradients& gradients) {
  block.checkpointed = false;
  return walk_block(block, gradients);
}

/// The checkpoint's backward holds the output that it made again and the gradient that came in until the whole group is
/// done (torch/utils/checkpoint.py, CheckpointFunction.backward; Megatron-LM core/tensor_parallel/random.py).
Bytes held_by_checkpoint(const layers::Block& last) {
  const auto& output = last.tensors[last.output];
  return output.size + output.gradient;
}

/// (L/k) 2Th + k A: the checkpoints, and all that one group keeps while it runs backward (Chen et al. 2016,
/// arXiv:1604.06174 section 4.1). Running the group again peaks in its last layer, whose own walk sees that.
void walk_group(const program::Program& program, std::size_t first, std::size_t end, const WeightGradients& gradients,
                std::vector<BlockWalk>& walks) {
  const Bytes held = held_by_checkpoint(program.blocks[end - 1]);
  const Bytes input = walks[first].kept;
  auto earlier = bytes(0);
  for (std::size_t i = first; i < end; ++i) {
    const BlockWalk open = open_walk(program.blocks[i], gradients);
    BlockWalk& walk = walks[i];
    if (i + 1 < end) walk.backward_peak = open.backward_peak + held;
    walk.backward_peak += earlier;
    if (i > first) {
      walk.kept = bytes(0);
      walk.backward_peak -= input;
    }
    earlier += open.kept;
  }
}

}  // namespace

void walk_groups(const program::Program& program, const WeightGradients& gradients, std::vector<BlockWalk>& walks) {
  for (std::size_t i = 0; i < program.blocks.size(); ++i) {
    const auto& block = program.blocks[i];
    if (block.group_end > i + 1) walk_group(program, block.group_first, block.group_end, gradients, walks);
    if (block.group_end > i) i = block.group_end - 1U;
  }
}

}  // namespace llmcalc::memory
