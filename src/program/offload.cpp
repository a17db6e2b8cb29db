#include "program/offload.hpp"

#include "layers/widths.hpp"
#include "spec/traits.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::program {

using quantity::Bytes;
using quantity::bytes;

namespace {

/// Megatron-LM's --cpu-offloading-num-layers are the first ones (TransformerEngine pytorch/cpu_offload.py,
/// get_cpu_offload_context), spread over the stages.
std::int64_t layers_of_stage(const spec::Question& question) {
  const auto& said = question.training.offload_layers;
  return said ? quantity::ceil_divide(*said, question.layout.pp) : Offloaded::unlimited;
}

Bytes take(Bytes& size) { return std::exchange(size, bytes(0)); }

}  // namespace

/// FSDP's CPU offload has one switch: with the shards of the weights their gradients and the optimizer's step move to
/// the host (torch/distributed/fsdp/api.py, CPUOffload; fully_shard's CPUOffloadPolicy). DeepSpeed reduces gradients
/// into the host's partition where it shards them (Ren et al. 2021, ZeRO-Offload, arXiv:2101.06840 section 4), and
/// torchao frees them behind the copy where told so (optim/cpu_offload.py, offload_gradients). Elsewhere, as with
/// Megatron-LM's --optimizer-cpu-offload, the gradients stay.
Offloaded make_offload(const spec::Question& question, const frameworks::Profile& profile) {
  const auto kind = question.training.offload;
  Offloaded offload;
  offload.activations = kind == spec::Offload::activations;
  if (offload.activations) offload.layers = layers_of_stage(question);
  offload.weights = spec::offloads_weights(kind);
  offload.optimizer = spec::offloads_optimizer(kind);
  offload.gradients = kind == spec::Offload::optimizer_gradients;
  offload.to_nvme = question.training.offload_to == spec::OffloadTarget::nvme;
  if (spec::is_fsdp(question.layout.sharding) && offload.weights) offload.optimizer = offload.gradients = true;
  const bool engine_shards_gradients =
      profile.exchange.zero.reduce_bucket > 0 && StateSharding(question.layout).shards_gradients();
  if (offload.optimizer && engine_shards_gradients) offload.gradients = true;
  return offload;
}

Elsewhere& Elsewhere::operator+=(const Elsewhere& other) {
  host += other.host;
  nvme += other.nvme;
  return *this;
}

/// A host that updates the weights needs fp32 gradients, which where they left the accelerator are the only ones:
/// 4 + 8 + 4 bytes a parameter (DeepSpeed runtime/zero/stage3.py, estimate_zero3_model_states_mem_needs; its margin of
/// one half for further buffers is not counted).
Elsewhere move_out(States& states, const Offloaded& offload) {
  Bytes moved = bytes(0);
  if (offload.weights) moved += take(states.weights) + take(states.adapters);
  if (offload.optimizer) {
    moved += take(states.master) + take(states.optimizer) + take(states.paged);
    moved += states.gradient_copies;
    states.moment_temporaries = states.update_scratch = bytes(0);
  }
  if (offload.gradients) {
    const Bytes narrow = take(states.gradients);
    states.wide_gradients = bytes(0);
    if (!offload.optimizer || states.gradient_copies == bytes(0)) moved += narrow;
  }
  if (offload.optimizer) states.gradient_copies = bytes(0);
  return offload.to_nvme ? Elsewhere{bytes(0), moved} : Elsewhere{moved, bytes(0)};
}

/// DeepSpeed has four fp32 buffers for the optimizer, each as large as the largest group of 1e9 parameters that it
/// steps at once, and five 16-bit ones of 1e8 parameters for weights (runtime/zero/offload_config.py, buffer_count and
/// buffer_size; runtime/zero/stage3.py, _configure_tensor_swapping).
Bytes swap_buffers(const Offloaded& offload, std::int64_t trained) {
  constexpr std::int64_t optimizer_buffers = 4;
  constexpr std::int64_t largest_group = 1'000'000'000;
  constexpr std::int64_t weight_buffers = 5;
  constexpr std::int64_t weights_of_buffer = 100'000'000;
  Bytes buffers = bytes(0);
  if (!offload.to_nvme) return buffers;
  if (offload.optimizer) {
    buffers += bytes(quantity::product(optimizer_buffers, layers::fp32_width, std::min(trained, largest_group)));
  }
  if (offload.weights) buffers += bytes(quantity::product(weight_buffers, layers::half_width, weights_of_buffer));
  return buffers;
}

}  // namespace llmcalc::program
