#include "program/states.hpp"

#include "layers/widths.hpp"

#include <algorithm>

namespace llmcalc::program {

using quantity::bytes;
using quantity::Bytes;
using quantity::ceil_divide;
using quantity::product;

namespace {

Bytes share(Bytes whole, std::int64_t shards) { return bytes(ceil_divide(quantity::in_bytes(whole), shards)); }

/// Transformer Engine's layers keep 8- and 4-bit copies of each weight for their products; of a weight gathered from
/// shards nothing is kept (TransformerEngine pytorch/module/base.py, get_weight_workspace).
Bytes product_copies(const layers::Weight& w, std::int64_t shards) {
  return shards > 1 ? bytes(0) : w.copies * formats::storage_bytes(w.copy_type, w.elements);
}

Bytes code_bytes(const layers::Weight& w) {
  return bytes(ceil_divide(product(w.elements, formats::facts(w.dtype).bits), 8));
}

/// Of a quantized weight only the codes are parameters that sharding sees; its scales are attributes or buffers of the
/// module and stay whole on every rank (bitsandbytes nn/modules.py, Params4bit.quant_state; AutoGPTQ's scales, qzeros).
/// torchao's are parts of the tensor (torchao/dtypes/nf4tensor.py, fsdp_pre_all_gather).
Bytes weight_bytes(const layers::Weight& w, std::int64_t shards) {
  const Bytes stored = formats::storage_bytes(w.dtype, w.elements);
  if (w.shards_scales) return w.layouts * share(stored, shards) + product_copies(w, shards);
  const Bytes codes = code_bytes(w);
  return w.layouts * (share(codes, shards) + (stored - codes)) + product_copies(w, shards);
}

/// Transformer Engine's FusedAdam, store_param_remainders: bf16 weights are the high half of their fp32 masters.
constexpr std::int64_t remainder_width = 2;

Bytes master_bytes(const layers::Weight& w, const spec::Precision& precision) {
  if (!precision.master) return bytes(0);
  if (precision.master_remainder) return bytes(product(w.elements, remainder_width));
  return formats::storage_bytes(precision.master_type, w.elements);
}

/// AdaLoRA weighs its parameters: a sensitivity each, and running means of it and of its uncertainty (Zhang et al.
/// 2023, arXiv:2303.10512 eqs. 8 to 10; peft tuners/adalora/layer.py, RankAllocator.update_ipt).
Bytes importance_scores(const layers::Weight& w, const spec::Training& training) {
  return training.method == spec::Method::adalora ? bytes(product(3, w.elements, layers::fp32_width)) : bytes(0);
}

bool widens_gradients(const spec::Precision& precision) {
  const bool reads_wide = precision.master && precision.master_type == formats::Dtype::fp32;
  return reads_wide && !precision.grad_copy && precision.grads != formats::Dtype::fp32;
}

AllocatorSlack slack_of(const layers::Weight& w, Bytes all, std::int64_t shards) {
  const std::int64_t tensors = tensors_of(w);
  return {bytes(quantity::in_bytes(all) / tensors), tensors, shards};
}

/// Sharded states are slices of whole tensors (Megatron-LM core/optimizer/distrib_optimizer.py,
/// _build_model_and_main_param_groups), and the weights beside them lie in one buffer (core/distributed/
/// param_and_grad_buffer.py).
void add_slack(const layers::Weight& w, const spec::Precision& precision, std::int64_t shards, States& states) {
  if (shards == 1) states.slack.add(slack_of(w, code_bytes(w), 1), 1);
  if (!w.trainable) return;
  if (precision.master) states.slack.add(slack_of(w, master_bytes(w, precision), shards), 1);
  const Bytes moment = formats::storage_bytes(precision.moments, w.elements);
  if (moment == bytes(0)) return;
  const std::int64_t moments = product(quantity::in_bytes(states.optimizer), shards) / quantity::in_bytes(moment);
  states.moment_slack.add(slack_of(w, moment, shards), moments);
}

}  // namespace

std::int64_t tensors_of(const layers::Weight& w) {
  const std::int64_t of_one = product(w.rows, w.columns);
  return of_one == 0 ? 1 : std::max<std::int64_t>(1, w.elements / of_one);
}

States weight_states(const layers::Weight& w, const spec::Training& training, const StateSharding& sharding) {
  const auto& precision = training.precision;
  const Shards& shards = sharding.of(w.split);
  States states;
  if (w.shared) return states;
  (w.adapter ? states.adapters : states.weights) = weight_bytes(w, shards.weights);
  if (!w.trainable) return states;
  const Bytes wide = bytes(product(w.elements, layers::fp32_width));
  states.master = share(master_bytes(w, precision), shards.optimizer);
  states.gradients = share(formats::storage_bytes(precision.grads, w.elements), shards.gradients);
  if (precision.grad_copy) states.wide_gradients = share(wide, shards.optimizer);
  states.gradients += states.wide_gradients;
  (is_paged(w, training.optimizer) ? states.paged : states.optimizer) =
      share(optimizer_bytes(w, training), shards.optimizer);
  states.optimizer += share(importance_scores(w, training), shards.weights);
  states.moment_temporaries = share(formats::storage_bytes(precision.moments, w.elements), shards.optimizer);
  if (widens_gradients(precision)) states.gradient_copies = share(wide, shards.optimizer);
  states.update_scratch = update_scratch(w, training);
  return states;
}

States block_states(const layers::Block& block, const spec::Training& training, const StateSharding& sharding) {
  States sum;
  for (const layers::Weight& w : block.weights) {
    States states = weight_states(w, training, sharding);
    if (!w.shared) add_slack(w, training.precision, sharding.of(w.split).optimizer, states);
    sum += states;
  }
  return sum;
}

States& States::add(const States& other, std::int64_t count) {
  weights += count * other.weights;
  adapters += count * other.adapters;
  master += count * other.master;
  gradients += count * other.gradients;
  wide_gradients += count * other.wide_gradients;
  optimizer += count * other.optimizer;
  paged += count * other.paged;
  moment_temporaries += count * other.moment_temporaries;
  gradient_copies += count * other.gradient_copies;
  slack.add(other.slack, count);
  moment_slack.add(other.moment_slack, count);
  update_scratch = std::max(update_scratch, other.update_scratch);
  return *this;
}

}  // namespace llmcalc::program
