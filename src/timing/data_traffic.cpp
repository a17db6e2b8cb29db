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

DataTraffic exchange(const Network& network, const spec::Layout& layout, Bytes weights, Bytes gradients,
                     const Span& span) {
  DataTraffic traffic;
  if (span.ranks <= 1) return traffic;
  if (layout.sharding == spec::Sharding::none || layout.sharding == spec::Sharding::ddp) {
    traffic.reduce = network.collective(Collective::all_reduce, gradients, span);
    return traffic;
  }
  traffic.gather = network.collective(Collective::all_gather, weights, span);
  traffic.reduce = network.collective(Collective::reduce_scatter, gradients, span);
  return traffic;
}

}  // namespace

DataTraffic& DataTraffic::operator+=(const DataTraffic& other) {
  gather += other.gather;
  reduce += other.reduce;
  return *this;
}

DataTraffic data_traffic(const WeightTraffic& w, const spec::Layout& layout, const Network& network) {
  const bool sharded = layout.sharding != spec::Sharding::none && layout.sharding != spec::Sharding::ddp;
  const Span dense = sharded ? network.sharding() : network.data();
  DataTraffic traffic = exchange(network, layout, w.weights, w.gradients, dense);
  traffic += exchange(network, layout, w.expert_weights, w.expert_gradients,
                      sharded ? network.expert_sharding() : network.expert_data());
  if (sharded) traffic.reduce += between_replicas(network, w.gradients);
  return traffic;
}

}  // namespace llmcalc::timing
