#include "llmcalc/program/offload.hpp"

#include "llmcalc/spec/traits.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::program {

using quantity::Bytes;
using quantity::bytes;

namespace {

bool is_fsdp(spec::Sharding sharding) {
  return sharding == spec::Sharding::fsdp1 || sharding == spec::Sharding::fsdp2 || sharding == spec::Sharding::hsdp;
}

Bytes take(Bytes& size) { return std::exchange(size, bytes(0)); }

}  // namespace

/// FSDP's CPU offload has one switch: with the shards of the weights their gradients and the optimizer's step move to
/// the host (torch/distributed/fsdp/api.py, CPUOffload; fully_shard's CPUOffloadPolicy). DeepSpeed reduces gradients
/// into the host's partition where it shards them (Ren et al. 2021, ZeRO-Offload, arXiv:2101.06840 section 4).
/// Elsewhere, as with Megatron-LM's --optimizer-cpu-offload, the gradients stay.
Offload make_offload(const spec::Question& question, const Profile& profile) {
  const auto kind = question.training.offload;
  Offload offload;
  offload.activations = kind == spec::Offload::activations;
  offload.weights = spec::offloads_weights(kind);
  offload.optimizer = spec::offloads_optimizer(kind);
  if (is_fsdp(question.layout.sharding) && offload.weights) offload.optimizer = offload.gradients = true;
  const bool engine_shards_gradients = profile.zero.reduce_bucket > 0 && Sharding(question.layout).shards_gradients();
  if (offload.optimizer && engine_shards_gradients) offload.gradients = true;
  return offload;
}

/// A host that updates the weights needs fp32 gradients, which where they left the accelerator are the only ones:
/// 4 + 8 + 4 bytes a parameter (DeepSpeed runtime/zero/stage3.py, estimate_zero3_model_states_mem_needs; its margin of
/// one half for further buffers is not counted).
Bytes move_to_host(States& states, const Offload& offload) {
  Bytes host = bytes(0);
  if (offload.weights) host += take(states.weights) + take(states.adapters);
  if (offload.optimizer) {
    host += take(states.master) + take(states.optimizer) + take(states.paged);
    host += states.gradient_copies;
    states.moment_temporaries = states.update_scratch = bytes(0);
  }
  if (offload.gradients) {
    const Bytes narrow = take(states.gradients);
    if (!offload.optimizer || states.gradient_copies == bytes(0)) host += narrow;
  }
  if (offload.optimizer) states.gradient_copies = bytes(0);
  return host;
}

}  // namespace llmcalc::program
