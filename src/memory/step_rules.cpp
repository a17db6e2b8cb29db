#include "memory/step_rules.hpp"

#include "llmcalc/spec/question.hpp"
#include "spec/traits.hpp"

namespace llmcalc::memory {

using frameworks::Profile;

namespace {

/// Engines with a bucket copy each gradient into it.
bool shards_through_bucket(const StepRules& rules, const Profile& profile) {
  return profile.exchange.zero.reduce_bucket > 0 && rules.sharding.shards_gradients();
}

/// How the gradients of weights are made. Sharded weights have theirs whole until the layer has been reduced; engines
/// with a bucket copy each gradient into it, and an update in the backward pass leaves nothing behind.
WeightGradients gradient_policy(const spec::Training& training, const Profile& profile, const StepRules& rules) {
  const std::int64_t grads = quantity::in_bytes(formats::storage_bytes(training.precision.grads, 1));
  const std::int64_t product = training.precision.compute == formats::Dtype::fp32 ? 4 : 2;
  if (profile.step.updates_in_backward || shards_through_bucket(rules, profile)) return {false, product, product, 0};
  if (rules.streams_weights) return {true, product, product, product};
  if (profile.gradients.persistent) return {false, profile.gradients.accumulate_apart() ? product : 0, product, 0};
  const bool exists_already = training.grad_accum > 1;
  return {!exists_already, product, product, exists_already ? 0 : grads};
}

/// DeepSpeed's stage 3 has its partition of gradients from the start (runtime/zero/stage3.py,
/// grad_partitions_flat_buffer).
bool has_gradient_buffer(const spec::Question& question, const Profile& profile) {
  const bool partitioned = profile.exchange.zero.reduce_bucket > 0 && question.layout.sharding == spec::Sharding::zero3;
  return profile.gradients.persistent || partitioned;
}

/// Units that hook the inputs of frozen weights. FSDP2 and DeepSpeed put a function before a module instead, which
/// saves no tensor (torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py, RegisterPostBackwardFunction; deepspeed
/// runtime/zero/parameter_offload.py, PostBackwardFunctionModule).
bool has_fsdp1_units(spec::Sharding sharding) {
  return sharding == spec::Sharding::fsdp1 || sharding == spec::Sharding::hsdp;
}

/// FSDP1 gathers ahead of the backward pass the one unit that ran before the one at hand
/// (torch/distributed/fsdp/_exec_order_utils.py, get_handle_to_backward_prefetch): where adapters are units, an adapter
/// of the layer, and the layer before it only when the first of them is reached, at the end of the layer's pass.
bool fetches_adapters(const Profile& profile, spec::Sharding sharding) {
  return profile.adapters.own_units && has_fsdp1_units(sharding);
}

/// trl dpo_trainer.py, get_batch_loss_metrics, and kto_trainer.py run the policy first and then the reference; PPO and
/// GRPO ask it when the samples have been made (ppo_trainer.py, train; grpo_trainer.py,
/// _generate_and_score_completions).
bool asks_in_loss(spec::Algorithm algorithm) {
  return algorithm == spec::Algorithm::dpo || algorithm == spec::Algorithm::kto;
}

}  // namespace

StepRules step_rules(const spec::Question& question, const Profile& profile) {
  const bool several_micro_batches = question.training.grad_accum > 1;
  StepRules rules;
  rules.sharding = program::StateSharding(question.layout);
  rules.offload = program::make_offload(question, profile);
  rules.differentiates = spec::has_backward_pass(question.training.method);
  rules.gradient_buffer = has_gradient_buffer(question, profile);
  const bool accumulates =
      several_micro_batches && !profile.step.updates_in_backward && !profile.loop.starts_with_longest;
  rules.gradients_resident = rules.gradient_buffer || accumulates;
  rules.keeps_last_graph = profile.loop.keeps_last_graph && !profile.loop.starts_with_longest;
  rules.streams_weights = rules.sharding.gathers_weights() || rules.offload.weights;
  rules.flat_gradients =
      profile.gradients.accumulates_whole && rules.sharding.gathers_weights() && several_micro_batches;
  rules.fetches_next_layer = !fetches_adapters(profile, question.layout.sharding);
  rules.retains_inputs = profile.adapters.retains_frozen_inputs && has_fsdp1_units(question.layout.sharding);
  rules.counts_slack = profile.allocator.allocates_tensors;
  rules.asks_in_loss = asks_in_loss(question.training.algorithm);
  rules.gradients = gradient_policy(question.training, profile, rules);
  rules.gradients.awaits_second = !profile.gradients.persistent;
  rules.gradients.deferred = question.layout.schedule == spec::Schedule::zero_bubble && question.layout.pp > 1;
  return rules;
}

}  // namespace llmcalc::memory
