#include "timing/weight_traffic.hpp"

#include "program/optimizer_states.hpp"
#include "program/states.hpp"

#include <algorithm>

namespace llmcalc::timing {

using quantity::Bytes;
using quantity::bytes;
using quantity::Seconds;

namespace {

/// Weights travel in the type of the products where they rest wider (FSDP's MixedPrecision.param_dtype; Megatron's
/// parameter all-gather), quantized ones as they are. Those that narrow products have no copies of are cast where they
/// are used (torchao's enable_fsdp_float8_all_gather is off unless it is asked for).
Bytes travelling(const layers::Weight& w, formats::Dtype compute) {
  const bool narrowed_on_arrival = formats::is_narrow_float(compute) && w.copies == 0;
  const formats::Dtype used = narrowed_on_arrival ? formats::Dtype::bf16 : compute;
  const bool wider = formats::facts(w.dtype).bits > formats::facts(used).bits;
  return formats::storage_bytes(wider ? used : w.dtype, w.elements);
}

/// Gradients travel in the type in which they accumulate, unless the framework's policy says otherwise.
Bytes reduced(const layers::Weight& w, const spec::Precision& precision, const frameworks::Profile& profile) {
  const Bytes own = formats::storage_bytes(precision.grads, w.elements);
  return profile.exchange.reduces_narrow ? std::min(own, travelling(w, precision.compute)) : own;
}

/// torch.optim's foreach and loop implementations run AdamW as a chain of kernels, each reading and writing whole
/// tensors: 3 for the first moment, 5 for the second, 6 for the root's chain and 4 for the weight where a fused kernel
/// touches 7 in all (torch/optim/adamw.py, _multi_tensor_adamw).
constexpr double chain_of_kernels = 18.0 / 7.0;

bool is_chain(const spec::Training& training) {
  return training.optimizer == spec::Optimizer::adamw && training.optimizer_impl != spec::OptimizerImpl::fused;
}

/// What is done in kernels of their own: the gradient buffer is cleared, and read and written to scale it where
/// replicas add theirs; the master weights are read again for those of the products.
Bytes beside_the_update(const layers::Weight& w, const spec::Training& training, std::int64_t shards, Bytes master) {
  const std::int64_t passes = shards > 1 ? 3 : 1;
  return passes * formats::storage_bytes(training.precision.grads, w.elements) + master;
}

/// Gradients are read twice, for their norm and for the update; master weights and moments are read and written; the
/// weights that the products read are written, and read where they have no master.
Bytes updated(const layers::Weight& w, const spec::Training& training, const frameworks::Profile& profile,
              const program::StateSharding& sharding) {
  const program::States states = program::weight_states(w, training, sharding);
  const Bytes gradients = 2 * formats::storage_bytes(training.precision.grads, w.elements);
  const Bytes weights = (training.precision.master ? 1 : 2) * formats::storage_bytes(w.dtype, w.elements);
  const Bytes whole = gradients + weights;
  const Bytes traffic =
      2 * (states.master + states.optimizer + states.paged) + bytes(in_bytes(whole) / sharding.of(w.split).optimizer);
  const std::int64_t shards = sharding.of(w.split).optimizer;
  if (profile.step.passes_over_gradients && !is_chain(training)) {
    return traffic + beside_the_update(w, training, shards, states.master);
  }
  if (!is_chain(training)) return traffic;
  return bytes(static_cast<std::int64_t>(chain_of_kernels * static_cast<double>(in_bytes(traffic))));
}

/// Five iterations of three products (Jordan 2024, zeropower_via_newtonschulz5).
Seconds newton_schulz(const layers::Weight& w, const KernelPrices& kernels) {
  constexpr double iterations = 5.0;
  const std::int64_t m = std::min(w.rows, w.columns);
  const std::int64_t k = std::max(w.rows, w.columns);
  const std::int64_t matrices = w.elements / quantity::product(m, k);
  const auto product = [&](std::int64_t columns, std::int64_t inner) {
    return kernels.product({m, columns, inner, matrices}, formats::Dtype::bf16, Pass::forward);
  };
  return iterations * (product(m, k) + product(m, m) + product(k, m));
}

/// A new gradient and the sum so far are read, the sum is written; a 16-bit gradient is read and written wider before.
Bytes accumulated(const layers::Weight& w, const spec::Training& training, const frameworks::Profile& profile) {
  constexpr std::int64_t passes = 3;
  const Bytes wide = formats::storage_bytes(training.precision.grads, w.elements);
  if (profile.gradients.accumulation != frameworks::Accumulation::apart_widened) return passes * wide;
  return passes * wide + formats::storage_bytes(training.precision.compute, w.elements) + wide;
}

}  // namespace

WeightTraffic& WeightTraffic::operator+=(const WeightTraffic& other) {
  weights += other.weights;
  gradients += other.gradients;
  expert_weights += other.expert_weights;
  expert_gradients += other.expert_gradients;
  accumulated += other.accumulated;
  updated += other.updated;
  update_products += other.update_products;
  updated_parameters += other.updated_parameters;
  trained += other.trained;
  return *this;
}

WeightTraffic operator*(std::int64_t times, const WeightTraffic& t) {
  return {times * t.weights,
          times * t.gradients,
          times * t.expert_weights,
          times * t.expert_gradients,
          times * t.accumulated,
          times * t.updated,
          static_cast<double>(times) * t.update_products,
          times * t.updated_parameters,
          times * t.trained};
}

namespace {

/// Weights without a second dimension are small beside the matrices.
void note_edges(const layers::Weight& w, const spec::Training& training, const frameworks::Profile& profile,
                WeightTraffic& sum) {
  if (w.rows <= 1 || w.columns <= 1) return;
  sum.last_weights = travelling(w, training.precision.compute);
  if (sum.first_weights > bytes(0)) return;
  sum.first_weights = sum.last_weights;
  if (w.trainable) sum.first_gradients = reduced(w, training.precision, profile);
}

}  // namespace

WeightTraffic weight_traffic(const layers::Block& block, const spec::Training& training,
                             const frameworks::Profile& profile, const program::StateSharding& sharding,
                             const KernelPrices& kernels) {
  WeightTraffic sum;
  for (const layers::Weight& w : block.weights) {
    if (w.shared) continue;
    const bool expert = w.split == layers::Split::expert;
    (expert ? sum.expert_weights : sum.weights) += travelling(w, training.precision.compute);
    if (profile.exchange.overlaps_within_layer) note_edges(w, training, profile, sum);
    if (!w.trainable) continue;
    ++sum.trained;
    const std::int64_t shards = sharding.of(w.split).optimizer;
    (expert ? sum.expert_gradients : sum.gradients) += reduced(w, training.precision, profile);
    sum.accumulated += accumulated(w, training, profile);
    sum.updated += updated(w, training, profile, sharding);
    sum.updated_parameters += quantity::parameters(w.elements / shards);
    if (training.optimizer != spec::Optimizer::muon || !program::is_hidden_matrix(w)) continue;
    sum.update_products += newton_schulz(w, kernels) / static_cast<double>(shards);
  }
  return sum;
}

}  // namespace llmcalc::timing
