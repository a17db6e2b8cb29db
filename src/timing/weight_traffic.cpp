#include "timing/weight_traffic.hpp"

#include "frameworks/table.hpp"
#include "program/states.hpp"
#include "spec/traits.hpp"

#include <algorithm>

namespace llmcalc::timing {

using layers::Collective;
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

/// The chain of transformers' Adafactor reads and writes fp32 tensors 21 times: 1 for the norm of the weight, 4 for the
/// square, 2 for its means, 4 for the estimate and its product with the gradient, 1 for the norm of that, 4 to scale
/// it, 2 to turn its sign and 3 to add it. 16-bit weights and gradients are read and widened before, which is 2 more,
/// and the weight is read and narrowed again (transformers optimization.py, Adafactor.step).
Bytes adafactor_chain(const layers::Weight& w, const spec::Training& training) {
  constexpr std::int64_t passes = 21;
  constexpr std::int64_t copies = 3;
  const bool narrow = formats::facts(w.dtype).bits < formats::facts(formats::Dtype::fp32).bits;
  const Bytes wide = (narrow ? passes + copies : passes) * formats::storage_bytes(formats::Dtype::fp32, w.elements);
  if (!narrow) return wide;
  return wide + formats::storage_bytes(training.precision.grads, w.elements) +
         2 * formats::storage_bytes(w.dtype, w.elements);
}

/// Nanoseconds of an update in codes for an element and a unit of the accelerator: its search among the values
/// of the code bounds it, not what it moves (bitsandbytes csrc/kernels.cu, kOptimizerStatic8bit2StateBlockwise; torchao
/// optim/quant_utils.py, quantize_8bit_with_qmap and quantize_4bit_with_qmap). Llama 3.2 1B on H100, 132 units: 25, 75
/// and 55 ps a parameter (tests/measured/time/h100-trainers.csv).
double search_in_codes(const layers::Weight& w, const spec::Training& training) {
  constexpr double bitsandbytes_8_bits = 3.3;
  constexpr double torchao_8_bits = 9.9;
  constexpr double torchao_4_bits = 7.3;
  switch (training.optimizer) {
    case spec::Optimizer::adamw_8bit:
    case spec::Optimizer::paged_adamw_8bit:
      return w.table && frameworks::widens_embedding_moments(training) ? 0.0 : bitsandbytes_8_bits;
    case spec::Optimizer::adamw_8bit_torchao: return torchao_8_bits;
    case spec::Optimizer::adamw_4bit: return torchao_4_bits;
    default: return 0.0;
  }
}

/// Calls of `calls_of_update` where the optimizer is torch.optim's.
double calls_of_torch(spec::OptimizerImpl impl) {
  switch (impl) {
    case spec::OptimizerImpl::fused: return 0.6;
    case spec::OptimizerImpl::foreach: return 1.7;
    case spec::OptimizerImpl::loop: return 2.2;
  }
  return 0.0;
}

/// Eager operations that the host could hand over while it hands over the update of one tensor: bitsandbytes, torchao
/// and Adafactor go from tensor to tensor in Python (bitsandbytes optim/optimizer.py, Optimizer8bit.step; torchao
/// optim/adam.py, _AdamBase.step; transformers optimization.py, Adafactor.step), PyTorch's own make lists of them
/// (executed: tests/timing/host.csv). Optimizers that were not executed go as PyTorch's own.
double calls_of_update(const spec::Training& training) {
  constexpr double bitsandbytes = 4.4;
  constexpr double torchao = 18.0;
  constexpr double factored = 5.4;
  using enum spec::Optimizer;
  switch (training.optimizer) {
    case adamw_8bit:
    case paged_adamw:
    case paged_adamw_8bit:
    case lion:
    case lamb: return bitsandbytes;
    case adamw_8bit_torchao:
    case adamw_4bit: return torchao;
    case adafactor: return factored;
    case adamw:
    case sgd:
    case sgd_momentum:
    case muon:
    case galore_adamw_8bit:
    case adagrad:
    case shampoo:
    case soap:
    case apollo:
    case apollo_mini:
    case lomo:
    case adalomo:
    case none: return calls_of_torch(training.optimizer_impl);
  }
  return 0.0;
}

/// Whether the optimizer sees each weight: shards are one flat tensor for many of them (torch/distributed/fsdp/
/// _flat_param.py; deepspeed runtime/zero/stage_1_and_2.py), and so are Megatron's buffers.
bool updates_each_weight(const frameworks::Profile& profile, std::int64_t shards) {
  return profile.allocator.allocates_tensors && shards == 1;
}

/// Traffic of kernels of their own: the gradient buffer is cleared, and read and written to scale it where
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
  if (training.optimizer == spec::Optimizer::adafactor && profile.allocator.allocates_tensors) {
    return bytes(in_bytes(gradients + adafactor_chain(w, training)) / shards);
  }
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
  update_dispatch += other.update_dispatch;
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
          static_cast<double>(times) * t.update_dispatch,
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
    if (updates_each_weight(profile, shards))
      sum.update_dispatch += kernels.host().handing_over(calls_of_update(training));
    (expert ? sum.expert_gradients : sum.gradients) += reduced(w, training.precision, profile);
    sum.accumulated += accumulated(w, training, profile);
    const Bytes moved = updated(w, training, profile, sharding);
    sum.updated += moved;
    sum.updated_parameters += quantity::parameters(w.elements / shards);
    const Seconds searched = kernels.computed(w.elements / shards, search_in_codes(w, training));
    sum.update_products += std::max(Seconds(), searched - kernels.stream(moved));
    if (training.optimizer != spec::Optimizer::muon || !program::is_hidden_matrix(w)) continue;
    sum.update_products += newton_schulz(w, kernels) / static_cast<double>(shards);
  }
  return sum;
}

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
