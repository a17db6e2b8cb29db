#include "memory/block_walk.hpp"

#include "memory/inner/block_run.hpp"
#include "quantity/lists.hpp"

#include <bitset>
#include <limits>
#include <utility>

namespace llmcalc::memory {

using layers::Block;
using layers::Op;
using layers::TensorId;
using quantity::Bytes;
using quantity::bytes;
using quantity::in_bytes;

namespace {

constexpr std::int32_t forever = std::numeric_limits<std::int32_t>::max();

/// A tensor made and saved within one recompute group is made again, as is one that is discarded; everything else that
/// is saved stays.
void mark_saved(const layers::Block& block, const layers::Op& op, Lifetimes& lifetimes) {
  for (const layers::TensorId id : op.saved) {
    ++lifetimes.savers[id];
    if (block.tensors[id].discarded) continue;
    const std::uint8_t made_in = lifetimes.producer_group[id];
    if (made_in == 0 || made_in != op.recompute) lifetimes.kept[id] = true;
  }
}

}  // namespace

Lifetimes::Lifetimes(const layers::Block& block)
    : last_use(block, -1), savers(block), producer_group(block), kept(block) {
  group_start.fill(-1);
  for (std::size_t i = 0; i < block.ops.size(); ++i) {
    const auto& op = block.ops[i];
    const auto index = static_cast<std::int32_t>(i);
    if (group_start[op.recompute] < 0) group_start[op.recompute] = index;
    for (const layers::TensorId id : op.inputs) last_use[id] = index;
    for (const layers::TensorId id : op.held) last_use[id] = index;
    for (const layers::TensorId id : op.outputs) {
      last_use[id] = index;
      producer_group[id] = op.recompute;
    }
    mark_saved(block, op, *this);
  }
  if (block.output != layers::no_tensor) last_use[block.output] = forever;
}

quantity::Bytes deferred_by(const layers::Block& block) {
  PerTensor<bool> counted(block);
  auto sum = quantity::bytes(0);
  for (const auto& op : block.ops) {
    if (op.kind != layers::OpKind::linear || op.weight == layers::no_weight) continue;
    if (!block.weights[op.weight].trainable) continue;
    for (const layers::TensorId id : op.saved) {
      if (!counted[id]) sum += block.tensors[id].size;
      counted[id] = true;
    }
    for (const layers::TensorId id : op.outputs) sum += block.tensors[id].gradient;
  }
  return sum;
}

namespace {

struct ForwardResult {
  std::int64_t peak = 0;
  std::int64_t kept = 0;
};

ForwardResult forward_walk(const Block& block, const Lifetimes& lifetimes) {
  HighWater water;
  Alive alive(block, water);
  if (block.input != layers::no_tensor) alive.start(block.input);
  run_forward(block, lifetimes, water, alive);
  if (block.output != layers::no_tensor && !is_kept(block, lifetimes, block.output)) alive.end(block.output);
  return {water.peak(), water.live()};
}

struct BackwardResult {
  std::int64_t peak = 0;
  std::int64_t left_behind = 0;
  std::int64_t awaiting = 0;
};

BackwardResult backward_walk(const Block& block, const Lifetimes& lifetimes, const WeightGradients& gradients) {
  HighWater water;
  Alive alive(block, water);
  BackwardRun run(block, lifetimes, gradients, water, alive);
  run.run();
  return {water.peak(), run.left_behind(), run.awaiting()};
}

/// A checkpointed block has run without a graph, and what it makes again goes with its own backward pass.
Bytes kept_by_nodes(const Block& block) {
  if (block.checkpointed) return bytes(0);
  return quantity::sum_of(block.tensors, [](const auto& t) { return t.kept_by_node ? t.size : bytes(0); });
}

}  // namespace

BlockWalk walk_block(const Block& block, const WeightGradients& gradients) {
  const Lifetimes lifetimes(block);
  const ForwardResult forward = forward_walk(block, lifetimes);
  const BackwardResult backward = backward_walk(block, lifetimes, gradients);
  const bool has_input = block.input != layers::no_tensor;
  const auto input_gradient = has_input ? block.tensors[block.input].gradient : bytes(0);
  return {bytes(forward.kept),      bytes(forward.peak),
          bytes(backward.peak),     bytes(backward.left_behind),
          bytes(backward.awaiting), input_gradient,
          block.held_by_loop,       gradients.deferred ? deferred_by(block) : bytes(0),
          kept_by_nodes(block)};
}

}  // namespace llmcalc::memory
