#include "program/sharding.hpp"

#include "spec/traits.hpp"

#include <algorithm>

namespace llmcalc::program {

namespace {

Shards shards(spec::Sharding kind, std::int64_t group) {
  const int stage = spec::zero_stage(kind);
  return {stage > 2 ? group : 1, stage > 1 ? group : 1, stage > 0 ? group : 1};
}

/// HSDP without a stated group shards within the node.
std::int64_t group_of(const spec::Layout& layout, std::int64_t replicas) {
  if (layout.sharding_group > 0) return std::min(layout.sharding_group, replicas);
  if (layout.sharding == spec::Sharding::hsdp) return std::max<std::int64_t>(1, replicas / layout.nodes);
  return replicas;
}

/// Megatron-LM's optimizer instances are as many for experts as for all else (core/parallel_state.py,
/// intra_partial_expert_dp: the expert replicas over num_distributed_optimizer_instances).
std::int64_t expert_group(const spec::Layout& layout, std::int64_t replicas, std::int64_t expert_replicas) {
  const bool in_instances = layout.sharding == spec::Sharding::zero1 || layout.sharding == spec::Sharding::zero2;
  if (!in_instances) return group_of(layout, expert_replicas);
  const std::int64_t instances = replicas / group_of(layout, replicas);
  return std::max<std::int64_t>(1, expert_replicas / instances);
}

}  // namespace

StateSharding::StateSharding(const spec::Layout& layout) {
  const std::int64_t replicas = layout.dp * layout.cp;
  const std::int64_t expert_replicas = std::max<std::int64_t>(1, replicas * layout.tp / (layout.ep * layout.etp));
  dense_ = shards(layout.sharding, group_of(layout, replicas));
  expert_ = shards(layout.sharding, expert_group(layout, replicas, expert_replicas));
  const bool shards_weights = dense_.weights > 1;
  gathers_once_ = shards_weights && layout.sharding == spec::Sharding::fsdp2 && layout.pp > 1;
  gathers_ = shards_weights && !gathers_once_;
  shards_gradients_ = spec::zero_stage(layout.sharding) > 1;
  buckets_ = layout.sharding == spec::Sharding::ddp && replicas > 1;
}

}  // namespace llmcalc::program
