#include "memory/block_prices.hpp"

#include "frameworks/table.hpp"
#include "layers/widths.hpp"
#include "llmcalc/spec/question.hpp"
#include "memory/inner/buffers.hpp"
#include "memory/inner/liveness.hpp"
#include "program/states.hpp"
#include "spec/traits.hpp"

#include <algorithm>

namespace llmcalc::memory {

using frameworks::Profile;
using quantity::Bytes;
using quantity::bytes;
using quantity::product;

namespace {

/// The walk of a checkpointed block as if it kept what it makes, which it does once it has been run again.
BlockWalk open_walk(layers::Block block, const WeightGradients& gradients) {
  block.checkpointed = false;
  return walk_block(block, gradients);
}

/// The checkpoint's backward holds the output that it made again and the gradient that came in until the whole group is
/// done (torch/utils/checkpoint.py, CheckpointFunction.backward; Megatron-LM core/tensor_parallel/random.py).
Bytes held_by_checkpoint(const layers::Block& last) {
  const auto& output = last.tensors[last.output];
  return output.size + output.gradient;
}

/// (L/k) 2Th + k A: the checkpoints, and all that one group keeps while it runs backward (Chen et al. 2016,
/// arXiv:1604.06174 section 4.1). Running the group again peaks in its last layer, whose own walk sees that.
void walk_group(const program::Program& program, std::size_t first, std::size_t end, const WeightGradients& gradients,
                std::vector<BlockWalk>& walks) {
  const Bytes held = held_by_checkpoint(program.blocks[end - 1]);
  const Bytes input = walks[first].kept;
  auto earlier = bytes(0);
  for (std::size_t i = first; i < end; ++i) {
    const BlockWalk open = open_walk(program.blocks[i], gradients);
    BlockWalk& walk = walks[i];
    if (i + 1 < end) walk.backward_peak = open.backward_peak + held;
    walk.backward_peak += earlier;
    if (i > first) {
      walk.kept = bytes(0);
      walk.backward_peak -= input;
    }
    earlier += open.kept;
  }
}

/// Replaces the walks of blocks that share a checkpoint with others; those of other blocks stay.
/// \param walks  of the program's blocks, each by itself
void walk_groups(const program::Program& program, const WeightGradients& gradients, std::vector<BlockWalk>& walks) {
  for (std::size_t i = 0; i < program.blocks.size(); ++i) {
    const auto& block = program.blocks[i];
    if (block.group_end > i + 1) walk_group(program, block.group_first, block.group_end, gradients, walks);
    if (block.group_end > i) i = block.group_end - 1U;
  }
}

std::int64_t gradient_width(const spec::Training& training) {
  return quantity::in_bytes(formats::storage_bytes(training.precision.grads, 1));
}

/// The sum of a number for each weight of the whole model, as one pipeline stage at most has of it.
template <class Number>
std::int64_t sum_of_stage(const program::Program& program, const Number& number) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < program.blocks.size(); ++i) {
    std::int64_t of_block = 0;
    for (const auto& w : program.blocks[i].weights) of_block += number(w);
    sum += of_block * std::ranges::count(program.sequence, static_cast<std::uint16_t>(i));
  }
  return sum / program.stages;
}

std::int64_t trained_elements(const program::Program& program) {
  return sum_of_stage(program, [](const auto& w) { return w.trainable && !w.shared ? w.elements : 0; });
}

/// Stage 3 keeps tensors below the threshold whole beside their shards (runtime/zero/parameter_offload.py,
/// param_persistence_threshold).
Bytes persistent_tensors(const program::Program& program, std::int64_t threshold) {
  return bytes(sum_of_stage(program, [&](const layers::Weight& w) {
    return w.elements < threshold ? quantity::in_bytes(formats::storage_bytes(w.dtype, w.elements)) : 0;
  }));
}

/// Stage 1 flattens gradients into a bucket at the step and gathers the updated weights in another; stage 2 has its
/// bucket through the backward pass and none to overlap with unless asked for (runtime/engine.py,
/// _configure_zero_optimizer; runtime/zero/stage_1_and_2.py, backward). Stage 3 holds its bucket from the start
/// (runtime/zero/stage3.py, ipg bucket flat buffer).
ZeroBuffers zero_buffers(const program::Program& program, const spec::Question& question,
                         const frameworks::ZeroEngine& engine) {
  ZeroBuffers buffers;
  if (engine.reduce_bucket == 0) return buffers;
  const std::int64_t trained = trained_elements(program);
  const Bytes bucket = bytes(product(engine.reduce_bucket, gradient_width(question.training)));
  const Bytes flattened = bytes(product(std::min(engine.reduce_bucket, trained), gradient_width(question.training)));
  const Bytes gathered = bytes(product(std::min(engine.gather_bucket, trained), layers::half_width));
  switch (question.layout.sharding) {
    case spec::Sharding::zero1: buffers.step = std::max(flattened, gathered); break;
    case spec::Sharding::zero2:
      buffers.backward = bucket;
      buffers.step = gathered;
      break;
    case spec::Sharding::zero3: buffers.always = bucket + persistent_tensors(program, engine.smallest_sharded); break;
    default: break;
  }
  return buffers;
}

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

/// Whether the gradient of the output head comes from one product that is not widened: losses in chunks or kernels of
/// their own add theirs up in a tensor, and autocast casts it.
bool head_has_one_product(const spec::Training& training) {
  const bool plain = training.loss == spec::Loss::standard || training.loss == spec::Loss::fused;
  return plain && !training.compile && !training.precision.autocast;
}

/// TRL takes the weights of ZeRO-3 out of their shards to generate, and to merge adapters into what it hands to an
/// engine, as do trainers that call it (trl 1.16 models/utils.py, unwrap_model_for_generation:
/// deepspeed.zero.GatheredParameters of all parameters, ds3_gather_for_generation; generation/vllm_generation.py).
bool gathers_for_samples(const spec::Question& question) {
  const auto& training = question.training;
  const bool by_trainer = frameworks::row_of(training.framework).engine == frameworks::TrainingEngine::trainer;
  const bool needs_whole = training.generates() || training.method != spec::Method::full;
  return training.makes_samples() && needs_whole && by_trainer && question.layout.sharding == spec::Sharding::zero3;
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
  rules.gathers_all = gathers_for_samples(question);
  rules.flat_gradients =
      profile.gradients.accumulates_whole && rules.sharding.gathers_weights() && several_micro_batches;
  rules.fetches_next_layer = !fetches_adapters(profile, question.layout.sharding);
  rules.retains_inputs = profile.adapters.retains_frozen_inputs && has_fsdp1_units(question.layout.sharding);
  rules.counts_slack = profile.allocator.allocates_tensors;
  rules.asks_in_loss = asks_in_loss(question.training.algorithm);
  rules.gradients = gradient_policy(question.training, profile, rules);
  rules.gradients.awaits_second = !profile.gradients.persistent;
  rules.gradients.adds_apart = head_has_one_product(question.training);
  rules.gradients.deferred = question.layout.schedule == spec::Schedule::zero_bubble && question.layout.pp > 1;
  return rules;
}

namespace {

/// FSDP1 keeps a flat 16-bit gradient of a unit, frozen parts included; FSDP2 adds those of a micro-batch to the others
/// in the type in which they are reduced (torch/distributed/fsdp/_fully_shard/_fsdp_param.py,
/// to_accumulated_grad_if_needed).
quantity::Bytes whole_gradients(const layers::Block& block, const spec::Training& training,
                                const program::StateSharding& sharding) {
  return sharding.gathers_once() ? accumulated_gradients(block, training) : flat_gradient(block);
}

program::AllocatorSlack slack_of_kept(const layers::Block& block) {
  program::AllocatorSlack slack;
  const Lifetimes lifetimes(block);
  for (std::size_t id = 0; id < block.tensors.size(); ++id) {
    const bool kept =
        block.checkpointed ? id == block.input || block.tensors[id].survives_recompute : lifetimes.kept[id];
    if (kept) slack.add({block.tensors[id].size, 1, 1}, 1);
  }
  return slack;
}

/// Slack of the allocator's blocks beyond the tensors that a block keeps for its backward pass, and so at its peaks.
void add_activation_slack(const layers::Block& block, BlockWalk& walk) {
  const auto slack = slack_of_kept(block).total();
  walk.kept += slack;
  walk.forward_peak += slack;
  walk.backward_peak += slack;
}

}  // namespace

void WeightPrices::assign(const program::Program& program, const spec::Question& question,
                          const frameworks::Profile& profile, const program::StateSharding& sharding) {
  blocks.clear();
  for (const auto& block : program.blocks) {
    blocks.push_back({program::block_states(block, question.training, sharding),
                      gathered_weights(block, question.training), whole_gradients(block, question.training, sharding)});
  }
  zero = zero_buffers(program, question, profile.exchange.zero);
  scratch.clear();
  if (profile.gradients.dummy_weight) scratch.assign(program);
  workspace = workspaces(program, profile);
}

void walk_blocks(const program::Program& program, const StepRules& rules, std::vector<BlockWalk>& walks) {
  walks.clear();
  for (const auto& block : program.blocks) {
    walks.push_back(walk_block(block, rules.gradients));
    if (rules.counts_slack) add_activation_slack(block, walks.back());
  }
  walk_groups(program, rules.gradients, walks);
}

}  // namespace llmcalc::memory
