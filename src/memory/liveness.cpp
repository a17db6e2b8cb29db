#include "memory/inner/liveness.hpp"

#include <limits>

namespace llmcalc::memory {

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

}  // namespace llmcalc::memory
