#include "timing/data_traffic.hpp"

namespace llmcalc::timing {

using program::Collective;
using quantity::Bytes;
using quantity::bytes;
using quantity::Seconds;

namespace {

/// Replicas of a shard reduce it among themselves once it is reduced within the shards' group (hybrid sharding: Zhao et
/// al. 2023, arXiv:2304.11277 §3.2.2).
Seconds between_replicas(const Network& network, Bytes gradients) {
  const Span replicas = network.replicas();
  if (replicas.ranks <= 1) return {};
  return network.collective(Collective::all_reduce, bytes(in_bytes(gradients) / network.sharding().ranks), replicas);
}

/// A broadcast or a reduction to one rank passes round the same ring as a collective of all, once for each rank.
Seconds by_owner(const Network& network, Collective kind, Bytes size, const Span& span) {
  const Bytes share = bytes(quantity::ceil_divide(in_bytes(size), span.ranks));
  return static_cast<double>(span.ranks) * network.collective(kind, share, span);
}

DataTraffic exchange(const Network& network, const spec::Layout& layout, Bytes weights, Bytes gradients,
                     const Span& span, bool owners) {
  DataTraffic traffic;
  if (span.ranks <= 1) return traffic;
  if (layout.sharding == spec::Sharding::none || layout.sharding == spec::Sharding::ddp) {
    traffic.reduce = network.collective(Collective::all_reduce, gradients, span);
    traffic.reduce_inside = network.inside_nodes(Collective::all_reduce, gradients, span);
    return traffic;
  }
  const auto time = [&](Collective kind, Bytes size) {
    return owners ? by_owner(network, kind, size, span) : network.collective(kind, size, span);
  };
  traffic.gather = time(Collective::all_gather, weights);
  traffic.reduce = time(Collective::reduce_scatter, gradients);
  traffic.gather_inside = network.inside_nodes(Collective::all_gather, weights, span);
  traffic.reduce_inside = network.inside_nodes(Collective::reduce_scatter, gradients, span);
  return traffic;
}

}  // namespace

DataTraffic& DataTraffic::operator+=(const DataTraffic& other) {
  gather += other.gather;
  reduce += other.reduce;
  gather_inside += other.gather_inside;
  reduce_inside += other.reduce_inside;
  return *this;
}

/// FSDP1 puts the gradients of a unit's tensors together in one flat one, casts it to the type in which it is reduced,
/// and divides it by the ranks before (torch/distributed/fsdp/_flat_param.py, _get_unflat_views;
/// _runtime_utils.py, _reduce_grad and _post_backward_hook). FSDP2 copies gathered shards into the tensors, after each
/// of two gathers, and gradients into the buffer that is reduced (_fully_shard/_fsdp_collectives.py,
/// foreach_all_gather_copy_out and foreach_reduce_scatter_copy_in).
Bytes copied_around_exchange(const WeightTraffic& w, const spec::Layout& layout) {
  const Bytes weights = w.weights + w.expert_weights;
  const Bytes gradients = w.gradients + w.expert_gradients;
  if (gradients == bytes(0)) return {};
  const Bytes cast = gradients > weights ? weights + gradients : bytes(0);
  switch (layout.sharding) {
    case spec::Sharding::fsdp1:
      return 2 * weights + cast + 2 * gradients;
    case spec::Sharding::fsdp2:
      return 5 * weights + gradients;
    default:
      return {};
  }
}

DataTraffic data_traffic(const WeightTraffic& w, const spec::Layout& layout, const Network& network, bool owners) {
  const bool sharded = layout.sharding != spec::Sharding::none && layout.sharding != spec::Sharding::ddp;
  const Span dense = sharded ? network.sharding() : network.data();
  DataTraffic traffic = exchange(network, layout, w.weights, w.gradients, dense, owners);
  traffic += exchange(network, layout, w.expert_weights, w.expert_gradients,
                      sharded ? network.expert_sharding() : network.expert_data(), owners);
  if (sharded) traffic.reduce += between_replicas(network, w.gradients);
  return traffic;
}

}  // namespace llmcalc::timing
