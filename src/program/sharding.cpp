#include "llmcalc/program/sharding.hpp"

#include <algorithm>

namespace llmcalc::program {

namespace {

Shards shards(spec::Sharding kind, std::int64_t group) {
  switch (kind) {
    case spec::Sharding::none:
    case spec::Sharding::ddp:
      return {};
    case spec::Sharding::zero1:
      return {1, 1, group};
    case spec::Sharding::zero2:
      return {1, group, group};
    case spec::Sharding::zero3:
    case spec::Sharding::fsdp1:
    case spec::Sharding::fsdp2:
    case spec::Sharding::hsdp:
      return {group, group, group};
  }
  return {};
}

/// HSDP without a stated group shards within the node.
std::int64_t group_of(const spec::Layout& layout, std::int64_t replicas) {
  if (layout.sharding_group > 0) return std::min(layout.sharding_group, replicas);
  if (layout.sharding == spec::Sharding::hsdp) return std::max<std::int64_t>(1, replicas / layout.nodes);
  return replicas;
}

}  // namespace

Sharding::Sharding(const spec::Layout& layout) {
  const std::int64_t replicas = layout.dp * layout.cp;
  const std::int64_t expert_replicas = std::max<std::int64_t>(1, replicas * layout.tp / (layout.ep * layout.etp));
  dense_ = shards(layout.sharding, group_of(layout, replicas));
  expert_ = shards(layout.sharding, group_of(layout, expert_replicas));
  gathers_ = dense_.weights > 1;
  shards_gradients_ = layout.sharding != spec::Sharding::none && layout.sharding != spec::Sharding::ddp &&
                      layout.sharding != spec::Sharding::zero1;
  buckets_ = layout.sharding == spec::Sharding::ddp && replicas > 1;
}

}  // namespace llmcalc::program
