#include "timing/data_traffic.hpp"

#include "llmcalc/program/sharding.hpp"

namespace llmcalc::timing {

using program::Collective;
using quantity::Bytes;
using quantity::bytes;
using quantity::Seconds;

namespace {

/// Weights travel in the type of the products where they rest wider (FSDP's MixedPrecision.param_dtype; Megatron's
/// parameter all-gather), quantized ones as they are.
Bytes travelling(const program::Weight& w, spec::Dtype compute) {
  const bool wider = spec::facts(w.dtype).bits > spec::facts(compute).bits;
  return spec::storage_bytes(wider ? compute : w.dtype, w.elements);
}

/// Replicas of a shard reduce it among themselves once it is reduced within the shards' group (hybrid sharding: Zhao et
/// al. 2023, arXiv:2304.11277 §3.2.2).
Seconds between_replicas(const Network& network, Bytes gradients) {
  const Span all = network.data();
  const Span shards = network.sharding();
  const std::int64_t replicas = all.ranks / shards.ranks;
  if (replicas <= 1) return {};
  const std::int64_t nodes_of_shards = shards.nodes();
  const std::int64_t per_node = std::max<std::int64_t>(1, all.per_node / shards.per_node);
  Span between{replicas, nodes_of_shards > 1 ? 1 : per_node};
  return network.collective(Collective::all_reduce, bytes(in_bytes(gradients) / shards.ranks), between);
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

DataBytes& DataBytes::operator+=(const DataBytes& other) {
  weights += other.weights;
  gradients += other.gradients;
  expert_weights += other.expert_weights;
  expert_gradients += other.expert_gradients;
  return *this;
}

DataBytes operator*(std::int64_t times, const DataBytes& b) {
  return {times * b.weights, times * b.gradients, times * b.expert_weights, times * b.expert_gradients};
}

bool gathers_by_block(const spec::Layout& layout) { return program::Sharding(layout).gathers_weights(); }

DataBytes data_bytes(const program::Block& block, const spec::Training& training) {
  DataBytes sum;
  for (const program::Weight& w : block.weights) {
    if (w.shared) continue;
    const bool expert = w.split == program::Split::expert;
    const Bytes weight = travelling(w, training.precision.compute);
    (expert ? sum.expert_weights : sum.weights) += weight;
    if (!w.trainable) continue;
    (expert ? sum.expert_gradients : sum.gradients) += spec::storage_bytes(training.precision.grads, w.elements);
  }
  return sum;
}

DataTraffic data_traffic(const DataBytes& b, const spec::Layout& layout, const Network& network) {
  const bool sharded = layout.sharding != spec::Sharding::none && layout.sharding != spec::Sharding::ddp;
  const Span dense = sharded ? network.sharding() : network.data();
  DataTraffic traffic = exchange(network, layout, b.weights, b.gradients, dense);
  traffic += exchange(network, layout, b.expert_weights, b.expert_gradients, network.expert_data());
  if (sharded) traffic.reduce += between_replicas(network, b.gradients);
  return traffic;
}

}  // namespace llmcalc::timing
