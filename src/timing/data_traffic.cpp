#include "timing/inner/data_traffic.hpp"

#include "program/sharding.hpp"
#include "spec/traits.hpp"

#include <algorithm>

namespace llmcalc::timing {

using layers::Collective;
using quantity::Bytes;
using quantity::bytes;
using quantity::Seconds;

namespace {

/// Replicas of a shard reduce it among themselves once it is reduced within the shards' group (hybrid sharding: Zhao et
/// al. 2023, arXiv:2304.11277 §3.2.2).
Seconds between_replicas(const Network& network, Bytes gradients) {
  const GroupSpan replicas = network.replicas();
  if (replicas.ranks <= 1) return {};
  return network.collective(Collective::all_reduce, bytes(in_bytes(gradients) / network.sharding().ranks), replicas);
}

/// Who takes part, and how gradients and weights travel.
struct Exchange {
  GroupSpan shards;       ///< ranks that share the states
  GroupSpan replicas;     ///< all that reduce a gradient
  bool by_owner = false;  ///< updated weights, of as many tensors
  std::int64_t tensors = 0;
  bool whole = false;  ///< gradients
};

/// One broadcast for each rank that has a tensor (InternLM solver/optimizer/hybrid_zero_optim.py, broadcast_params and
/// _partition_param_list).
Seconds from_owners(const Network& network, Bytes size, const Exchange& how) {
  const std::int64_t owners = std::max<std::int64_t>(1, std::min(how.shards.ranks, how.tensors));
  const Bytes share = bytes(quantity::ceil_divide(in_bytes(size), owners));
  return static_cast<double>(owners) * network.broadcast(share, how.shards);
}

DataTraffic exchange(const Network& network, Bytes weights, Bytes gradients, const Exchange& how) {
  DataTraffic traffic;
  traffic.reduce = how.whole ? network.collective(Collective::all_reduce, gradients, how.replicas)
                             : network.collective(Collective::reduce_scatter, gradients, how.shards);
  traffic.gather = how.by_owner ? from_owners(network, weights, how)
                                : network.collective(Collective::all_gather, weights, how.shards);
  return traffic;
}

/// The first product of a pass waits for its weight, and the last gradient of the backward pass has nothing behind it.
void show_edges(const WeightTraffic& w, const Network& network, DataTraffic& traffic) {
  const auto gathered = [&](Bytes size) {
    return network.collective(Collective::all_gather, size, network.sharding());
  };
  traffic.shown_forward = gathered(w.first_weights);
  traffic.shown_backward =
      gathered(w.last_weights) + network.collective(Collective::reduce_scatter, w.first_gradients, network.sharding());
}

}  // namespace

DataTraffic& DataTraffic::operator+=(const DataTraffic& other) {
  gather += other.gather;
  reduce += other.reduce;
  return *this;
}

/// FSDP1 puts the gradients of a unit's tensors together in one flat one, casts it to the type in which it is reduced,
/// and divides it by the ranks before (torch/distributed/fsdp/_flat_param.py, _get_unflat_views;
/// _runtime_utils.py, _reduce_grad and _post_backward_hook). FSDP2 copies gathered shards into the tensors, after each
/// of two gathers, and gradients into the buffer that is reduced (_fully_shard/_fsdp_collectives.py,
/// foreach_all_gather_copy_out and foreach_reduce_scatter_copy_in). DeepSpeed's stage 3 puts each tensor together from
/// its gathered shards, after each of two gathers (runtime/zero/partition_parameters.py,
/// AllGatherCoalescedHandle.wait), copies gradients into a bucket (stage3.py, __add_grad_to_ipg_bucket) and in the
/// order of the ranks into the tensor that is reduced (runtime/comm/coalesced_collectives.py,
/// reduce_scatter_coalesced).
Bytes copied_around_exchange(const WeightTraffic& w, const spec::Layout& layout, const frameworks::Profile& profile) {
  const Bytes weights = w.weights + w.expert_weights;
  const Bytes gradients = w.gradients + w.expert_gradients;
  if (gradients == bytes(0)) return {};
  const Bytes cast = gradients > weights ? weights + gradients : bytes(0);
  switch (layout.sharding) {
    case spec::Sharding::fsdp1: return 2 * weights + cast + 2 * gradients;
    case spec::Sharding::fsdp2: return 5 * weights + gradients;
    case spec::Sharding::zero3: return profile.exchange.zero.reduce_bucket > 0 ? 4 * weights + 4 * gradients : bytes(0);
    default: return {};
  }
}

DataTraffic data_traffic(const WeightTraffic& w, const spec::Layout& layout, const Network& network,
                         const frameworks::Profile& profile) {
  const program::StateSharding sharding(layout);
  const bool replicated = spec::zero_stage(layout.sharding) == 0;
  const bool whole = replicated || (profile.exchange.reduces_whole_gradients && !sharding.gathers_weights());
  const bool by_owner = profile.exchange.sends_by_owner && !sharding.gathers_weights();
  const GroupSpan alone;
  DataTraffic traffic = exchange(network, w.weights, w.gradients,
                                 {replicated ? alone : network.sharding(), network.data(), by_owner, w.trained, whole});
  traffic +=
      exchange(network, w.expert_weights, w.expert_gradients,
               {replicated ? alone : network.expert_sharding(), network.expert_data(), by_owner, w.trained, whole});
  if (!whole) traffic.reduce += between_replicas(network, w.gradients);
  if (profile.exchange.overlaps_within_layer) show_edges(w, network, traffic);
  return traffic;
}

}  // namespace llmcalc::timing
