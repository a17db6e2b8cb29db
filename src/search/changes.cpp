#include "search/inner/changes.hpp"

#include "search/inner/change_kinds.hpp"

namespace llmcalc::search {

namespace {

template <std::size_t n>
std::size_t steps(const spec::Question&, Larger) {
  return n;
}

constexpr Change rows[] = {
    {ChangeKind::kernel, steps<1>, flash_attention},  // the same result and no slower
    {ChangeKind::optimizer_kernel, steps<1>, fused_optimizer},
    {ChangeKind::loss, steps<1>, smaller_loss},
    {ChangeKind::checkpoint, steps<2>, spread_checkpoint},
    {ChangeKind::base, steps<1>, narrow_base},  // as its checkpoint is published
    {ChangeKind::sequence_parallel, steps<1>, sequence_parallel},
    {ChangeKind::recompute, steps<2>, recompute},  // the same result, later
    {ChangeKind::micro_batch, smaller_micro_batches, smaller_micro_batch},
    {ChangeKind::reference, steps<1>, precomputed_reference},
    {ChangeKind::sequence, steps<8>, shorter_sequence},
    {ChangeKind::sharding, steps<sharding_stages>, shard},
    {ChangeKind::offload, offloads, offload},
    {ChangeKind::optimizer, steps<1>, smaller_moments},  // nearly the same result
    {ChangeKind::tensor, steps<4>, tensor_parallel},     // the same result, spread another way
    {ChangeKind::pipeline, steps<4>, pipeline},
    {ChangeKind::experts, steps<4>, expert_parallel},
    {ChangeKind::targets, steps<1>, attention_adapters},
    {ChangeKind::method, steps<1>, adapters},  // another result
    {ChangeKind::method, steps<1>, quantization},
    {ChangeKind::sharding, steps<doublings>, more_accelerators, true},  // the same result for more money
    {ChangeKind::accelerator, larger_accelerators, next_accelerator},   // another machine, if it can be had
};

}  // namespace

std::span<const Change> all_changes() { return rows; }

}  // namespace llmcalc::search
