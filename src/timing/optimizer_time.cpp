#include "timing/optimizer_time.hpp"

#include "llmcalc/program/states.hpp"

#include <algorithm>

namespace llmcalc::timing {

using quantity::Bytes;
using quantity::bytes;
using quantity::Seconds;

namespace {

/// torch.optim's foreach and loop implementations run AdamW as a chain of kernels, each reading and writing whole
/// tensors: 3 for the first moment, 5 for the second, 6 for the root's chain and 4 for the weight where a fused kernel
/// touches 7 in all (torch/optim/adamw.py, _multi_tensor_adamw).
constexpr double chain_of_kernels = 18.0 / 7.0;

bool is_chain(const spec::Training& training) {
  return training.optimizer == spec::Optimizer::adamw && training.optimizer_impl != spec::OptimizerImpl::fused;
}

/// Five iterations of three products (Jordan 2024, zeropower_via_newtonschulz5).
Seconds newton_schulz(const program::Weight& w, const Kernels& kernels) {
  constexpr double iterations = 5.0;
  const std::int64_t m = std::min(w.rows, w.columns);
  const std::int64_t k = std::max(w.rows, w.columns);
  const std::int64_t matrices = w.elements / quantity::product(m, k);
  const auto product = [&](std::int64_t columns, std::int64_t inner) {
    return kernels.product({m, columns, inner, matrices}, spec::Dtype::bf16, Pass::forward);
  };
  return iterations * (product(m, k) + product(m, m) + product(k, m));
}

}  // namespace

/// Gradients are read twice, for their norm and for the update; master weights and moments are read and written; the
/// weights that the products read are written.
Bytes update_traffic(const program::Block& block, const spec::Training& training, const program::Sharding& sharding) {
  auto traffic = bytes(0);
  for (const program::Weight& w : block.weights) {
    if (!w.trainable || w.shared) continue;
    const program::States states = program::weight_states(w, training, sharding);
    const program::Shards& shards = sharding.of(w.split);
    const Bytes gradients = spec::storage_bytes(training.precision.grads, w.elements);
    const Bytes weights = spec::storage_bytes(w.dtype, w.elements);
    const Bytes updated = 2 * (states.master + states.optimizer + states.paged);
    traffic += updated + bytes((2 * in_bytes(gradients) + in_bytes(weights)) / shards.optimizer);
    if (!training.precision.master) traffic += bytes(in_bytes(weights) / shards.optimizer);
  }
  if (!is_chain(training)) return traffic;
  return bytes(static_cast<std::int64_t>(chain_of_kernels * static_cast<double>(in_bytes(traffic))));
}

Seconds update_products(const program::Block& block, const spec::Training& training, const program::Sharding& sharding,
                        const Kernels& kernels) {
  Seconds sum;
  if (training.optimizer != spec::Optimizer::muon) return sum;
  for (const program::Weight& w : block.weights) {
    const bool hidden_matrix = w.trainable && w.rows > 1 && w.columns > 1 && !w.table;
    if (hidden_matrix) sum += newton_schulz(w, kernels) / static_cast<double>(sharding.of(w.split).optimizer);
  }
  return sum;
}

}  // namespace llmcalc::timing
