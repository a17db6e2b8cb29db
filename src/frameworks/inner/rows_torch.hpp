// Frameworks with a training loop of their own on PyTorch.
#pragma once

#include "frameworks/inner/ability_sets.hpp"
#include "frameworks/inner/conditions.hpp"
#include "frameworks/inner/profiles.hpp"

namespace llmcalc::frameworks {

constexpr std::string_view foreach_file = "torch/optim, _default_to_fused_or_foreach";

inline constexpr Default litgpt_defaults[] = {
    {"dtype", "bf16", "LitGPT 0.5.13 finetune/lora.py: quantized weights have no mixed precision", is_qlora},
    {"dtype", "mixed-bf16", "LitGPT 0.5.13 utils.py: bf16-mixed"},
    {"seq", "55", "LitGPT generate/base.py: 50 new tokens behind a prompt of 5", is_generated},
    {"micro_batch", "1", "LitGPT 0.5.13 finetune/full.py"},
    {"recompute", "full", "LitGPT 0.5.13 finetune/full.py, lora.py: activation_checkpointing_policy", full_on_several},
    {"recompute", "full", "LitGPT 0.5.13 finetune/lora.py", low_rank_on_several},
    {"optimizer", "paged-adamw", "LitGPT 0.5.13 utils.py, instantiate_bnb_optimizer", is_qlora},
    {"optimizer_impl", "foreach", foreach_file},
    {"attention", "sdpa", "LitGPT 0.5.13 model.py"},
    {"sharding", "fsdp2", "LitGPT 0.5.13 finetune/lora.py, parallelize_fn: fully_shard", low_rank_on_several},
    {"sharding", "fsdp1", "LitGPT 0.5.13 finetune/full.py: FULL_SHARD", on_several},
    {"lora_rank", "8", "LitGPT 0.5.13 finetune/lora.py"},
    {"lora_targets", "q,v", "LitGPT 0.5.13 finetune/lora.py"},
    {"lora_dropout", "0.05", "LitGPT 0.5.13 finetune/lora.py"},
    {"weights", "nf4", "LitGPT 0.5.13 finetune/lora.py: bnb.nf4 is said", is_qlora},
};

inline constexpr Abilities litgpt_abilities{
    .methods = pretraining.with({Method::lora, Method::qlora, Method::adapter}),
    .algorithms = next_token,
    .shardings = replicas.with(fsdp),
    .splits = no_split,
    .exchanges = {},
    .schedules = one_f_one_b,
    .offloads = no_offload,
    .optimizers = of_torch.with(of_bitsandbytes).with({Optimizer::galore_adamw_8bit}),
    .quantized = bitsandbytes,
    .narrow = no_narrow,
    .losses = chunked_loss,
    .savings = litgpt_savings,
};

constexpr std::string_view torchtune_file = "torchtune 0.6.1 recipes/configs/llama3_1";

inline constexpr Default torchtune_defaults[] = {
    {"dtype", "bf16", torchtune_file},
    {"micro_batch", "2", torchtune_file},
    {"grad_accum", "8", torchtune_file, is_low_rank},
    {"recompute", "full", torchtune_file, is_full},
    {"recompute", "full", torchtune_file, low_rank_on_one},
    {"optimizer", "paged-adamw-8bit", "torchtune 0.6.1 recipes/configs/llama3_1/8B_full_single_device.yaml",
     full_on_one},
    {"optimizer_in_backward", "1", "torchtune 0.6.1 recipes/configs/llama3_1/8B_full_single_device.yaml",
     paged_full_on_one},
    {"optimizer_impl", "fused", "torchtune 0.6.1 recipes/configs/llama3_1: fused=True", takes_torchtune_recipes},
    {"optimizer_impl", "foreach", foreach_file},
    {"loss", "chunked", "torchtune 0.6.1 recipes/configs: CEWithChunkedOutputLoss", takes_torchtune_recipes},
    {"attention", "sdpa", "torchtune 0.6.1 modules/attention_utils.py"},
    {"sharding", "fsdp2", "torchtune 0.6.1 recipes/full_finetune_distributed.py", on_several},
    {"lora_rank", "8", torchtune_file},
    {"lora_targets", "q,v,o,gate,up,down", torchtune_file},
    {"lora_dropout", "0", "torchtune recipes/configs; pull request 1492, and issue 996 before release 0.2"},
    {"weights", "nf4", "torchtune modules/low_precision: torchao's NF4", is_qlora},
};

inline constexpr Abilities torchtune_abilities{
    .methods = pretraining.with(low_rank).with({Method::qlora}),
    .algorithms = {Algorithm::sft, Algorithm::dpo, Algorithm::ppo, Algorithm::grpo},
    .shardings = {Sharding::none, Sharding::fsdp1, Sharding::fsdp2},
    .splits = {Parallelism::tensor},
    .exchanges = {},
    .schedules = one_f_one_b,
    // fsdp_cpu_offload is FSDP2's CPUOffloadPolicy: weights, and with them gradients, states and the step
    // (torchtune 0.6.1 training/_distributed.py, shard_model).
    .offloads = offload_weights.with(offload_activations).with({Offload::params_optimizer}),
    .optimizers = of_torch.with(of_bitsandbytes).with({Optimizer::adamw_4bit}),
    .quantized = {Dtype::nf4, Dtype::nf4_dq},
    .narrow = no_narrow,
    .losses = chunked_loss,
    .savings = torchtune_savings,
};

constexpr std::string_view titan_file = "torchtitan 0.3.0 config/configs.py";

inline constexpr Default torchtitan_defaults[] = {
    {"dtype", "mixed-bf16", "torchtitan 0.3.0 config/configs.py: fp32 weights, bf16 products, fp32 reduction"},
    {"seq", "2048", titan_file},
    {"packing", "1", "torchtitan 0.3.0 hf_datasets: a stream of tokens"},
    {"micro_batch", "8", titan_file, without_stages},
    {"micro_batch", "1", "torchtitan 0.3.0 config/configs.py: pipeline_parallel_microbatch_size"},
    {"recompute", "selective", "torchtitan 0.3.0 trainer.py: by operation", is_trained},
    {"optimizer_impl", "fused", "torchtitan 0.3.0 components/optimizer/optimizer.py", takes_titan_models},
    {"optimizer_impl", "foreach", foreach_file},
    {"loss", "chunked", "torchtitan 0.3.0 models/llama3/config_registry.py: ChunkedLossWrapper", takes_titan_models},
    {"attention", "sdpa", "torchtitan models/attention.py; flex attention is not told from it"},
    {"sharding", "fsdp2", "torchtitan 0.3.0 config/configs.py: data_parallel_shard_degree=-1", on_several},
    {"reshard", "0", "torchtitan 0.3.0 distributed/fsdp.py", has_stages},
    {"sp", "1", "torchtitan 0.3.0 config/configs.py", cuts_tensors},
    {"lora_rank", "8", "torchtitan 0.3.0 components/lora.py"},
    {"lora_dropout", "0", "torchtitan 0.3.0 components/lora.py"},
};

inline constexpr Abilities torchtitan_abilities{
    .methods = pretraining.with({Method::lora}),
    .algorithms = {Algorithm::sft, Algorithm::grpo},
    .shardings = replicas.with(fsdp),
    .splits = all_splits,
    .exchanges = ring,
    .schedules = every_schedule,
    .offloads = offload_weights.with({Offload::params_optimizer}),
    .optimizers = adamw_alone.with({Optimizer::muon}),
    .quantized = whole_weights,
    .narrow = all_narrow,
    .losses = chunked_loss.with({Loss::vocab_parallel}),
    .savings = torchtitan_savings,
};

inline constexpr Default torch_defaults[] = {
    {"dtype", "bf16", "a program of one's own"},
    {"attention", "sdpa", "torch.nn.functional.scaled_dot_product_attention"},
    {"optimizer_impl", "foreach", foreach_file},
    {"sharding", "ddp", "torch.nn.parallel.DistributedDataParallel", on_several},
};

inline constexpr Default lightning_defaults[] = {
    {"dtype", "fp32", "Lightning 2.6.6 connectors/accelerator_connector.py: 32-true"},
    {"attention", "sdpa", "the model's own: torch.nn.functional.scaled_dot_product_attention"},
    {"optimizer_impl", "foreach", foreach_file},
    {"sharding", "ddp", "Lightning 2.6.6 connectors/accelerator_connector.py", on_several},
};

inline constexpr Default fsdp_qlora_defaults[] = {
    {"method", "qlora", "AnswerDotAI/fsdp_qlora train.py: train_type"},
    {"dtype", "bf16", "AnswerDotAI/fsdp_qlora train.py"},
    {"seq", "512", "AnswerDotAI/fsdp_qlora train.py"},
    {"micro_batch", "1", "AnswerDotAI/fsdp_qlora train.py"},
    {"recompute", "full", "AnswerDotAI/fsdp_qlora train.py", can_recompute},
    {"optimizer_impl", "foreach", foreach_file},
    {"attention", "sdpa", "AnswerDotAI/fsdp_qlora train.py"},
    {"sharding", "fsdp1", "AnswerDotAI/fsdp_qlora train.py: full_shard", on_several},
    {"offload", "params", "AnswerDotAI/fsdp_qlora train.py: use_cpu_offload", under_fsdp},
    {"lora_rank", "64", "AnswerDotAI/fsdp_qlora train.py"},
    {"lora_dropout", "0.1", "AnswerDotAI/fsdp_qlora train.py"},
    {"weights", "nf4", "AnswerDotAI/fsdp_qlora train.py", is_qlora},
};

inline constexpr Default composer_defaults[] = {
    {"dtype", "mixed-bf16", "llm-foundry 0.22.0 utils/config_utils.py: amp_bf16"},
    {"attention", "flash", "llm-foundry 0.22.0 models/utils/config_defaults.py"},
    {"optimizer_impl", "foreach", foreach_file},
    {"sharding", "ddp", "Composer 0.32.1 trainer/trainer.py without fsdp_config", on_several},
};

inline constexpr Default fms_defaults[] = {
    {"dtype", "mixed-bf16", "fms-fsdp policies/mixed_precision.py, bfSixteen"},
    {"seq", "4096", "fms-fsdp config/training.py"},
    {"packing", "1", "fms-fsdp utils/dataset_utils.py: a stream of tokens"},
    {"micro_batch", "2", "fms-fsdp config/training.py"},
    {"optimizer_impl", "foreach", foreach_file},
    {"attention", "sdpa", "fms-fsdp main_training_llama.py"},
    {"compile", "1", "fms-fsdp config/training.py"},
    {"sharding", "hsdp", "fms-fsdp config/training.py", on_several},
};

/// What a program of one's own may have, less what no part of PyTorch does.
inline constexpr Abilities torch_abilities = everything;

constexpr Abilities with_splits(Abilities abilities, Set<Parallelism> splits) {
  abilities.splits = splits;
  return abilities;
}

inline constexpr Abilities composer_abilities{
    .methods = pretraining.with(low_rank),
    .algorithms = next_token,
    .shardings = replicas.with(fsdp).with({Sharding::zero2}),  // FSDP's SHARD_GRAD_OP
    .splits = {Parallelism::tensor, Parallelism::experts},
    .exchanges = {},
    .schedules = one_f_one_b,
    .offloads = offload_weights.with(offload_activations),
    .optimizers = adamw_alone.with({Optimizer::lion}),
    .quantized = whole_weights,
    .narrow = fp8,
    .losses = standard_loss.with({Loss::fused}),
    .savings = gathering_savings,
};

inline constexpr Abilities fms_abilities{
    .methods = pretraining,
    .algorithms = next_token,
    .shardings = replicas.with({Sharding::fsdp1, Sharding::hsdp}),
    .splits = no_split,
    .exchanges = {},
    .schedules = one_f_one_b,
    .offloads = no_offload,
    .optimizers = adamw_alone,
    .quantized = whole_weights,
    .narrow = no_narrow,
    .losses = standard_loss,
    .savings = sharding_savings,
};

inline constexpr Abilities fsdp_qlora_abilities{
    .methods = pretraining.with(low_rank).with({Method::qlora}),
    .algorithms = next_token,
    .shardings = replicas.with({Sharding::zero2, Sharding::fsdp1, Sharding::hsdp}),  // zero2: shard_grad_op
    .splits = no_split,
    .exchanges = {},
    .schedules = one_f_one_b,
    .offloads = offload_weights.with(offload_activations),
    .optimizers = adamw_alone.with({Optimizer::sgd}),
    .quantized = bitsandbytes.with({Dtype::int4}),
    .narrow = no_narrow,
    .losses = standard_loss,
    .savings = gathering_savings,
};

struct TorchRow {
  spec::Framework framework;
  List<std::string_view, 4> words;
  std::string_view title;
  Profile (*profile)(const Run& run);
  Space space;
  Abilities abilities;
  std::span<const Default> defaults;
  HalfPrecision half;
  TimeRuns time_runs;
  std::string_view measured;
};

constexpr FrameworkRow torch_row(const TorchRow& row) {
  return {.framework = row.framework,
          .words = row.words,
          .title = row.title,
          .states = StateRecipe::torch,
          .engine = TrainingEngine::own,
          .profile = row.profile,
          .space = row.space,
          .abilities = row.abilities,
          .defaults = row.defaults,
          .half = row.half,
          .memory_runs = MemoryRuns::other_torch,
          .time_runs = row.time_runs,
          .measured = row.measured};
}

/// LLaMA-Adapter's (litgpt/adapter.py).
constexpr FrameworkRow with_prompts(FrameworkRow row) {
  row.adapters_are_prompts = true;
  return row;
}

/// Recipes that begin with published weights.
constexpr FrameworkRow tuning(FrameworkRow row) {
  row.tunes_checkpoints = true;
  return row;
}

constexpr Space of_shardings(List<Sharding> shardings, List<Offload> offloads) {
  return {.shardings = shardings, .schedules = one_schedule, .offloads = offloads, .splits_models = false};
}

/// Strategies that a word names (Lightning 2.6.6 pytorch/strategies): its fsdp is the first.
inline constexpr Space lightning_space =
    of_shardings({Sharding::ddp, Sharding::zero1, Sharding::zero2, Sharding::fsdp1}, {Offload::none});
inline constexpr Space torchtitan_space{.shardings = {Sharding::ddp, Sharding::fsdp2},
                                        .schedules = all_schedules,
                                        .offloads = {Offload::none, Offload::params}};

inline constexpr FrameworkRow torch_rows[] = {
    tuning(with_prompts(torch_row({spec::Framework::litgpt,
                                   {"litgpt", "lit-gpt"},
                                   "LitGPT",
                                   &litgpt_profile,
                                   of_shardings({Sharding::fsdp1, Sharding::fsdp2}, {Offload::none}),
                                   litgpt_abilities,
                                   litgpt_defaults,
                                   HalfPrecision::pure,
                                   TimeRuns::torch,
                                   "its tutorials and issues"}))),
    tuning(torch_row({spec::Framework::torchtune,
                      {"torchtune"},
                      "torchtune",
                      &torchtune_profile,
                      of_shardings({Sharding::fsdp2}, {Offload::none, Offload::params, Offload::activations}),
                      torchtune_abilities,
                      torchtune_defaults,
                      HalfPrecision::pure,
                      TimeRuns::torch,
                      "its documentation, issues and pull requests"})),
    torch_row({spec::Framework::torchtitan,
               {"torchtitan"},
               "torchtitan",
               &torchtitan_profile,
               torchtitan_space,
               torchtitan_abilities,
               torchtitan_defaults,
               HalfPrecision::autocast,
               TimeRuns::torch,
               "its benchmarks and issues"}),
    torch_row({spec::Framework::torch,
               {"torch", "pytorch"},
               "a PyTorch program",
               &own_loop_profile,
               torch_space,
               torch_abilities,
               torch_defaults,
               HalfPrecision::pure,
               TimeRuns::torch,
               {}}),
    torch_row({spec::Framework::lightning,
               {"lightning", "pytorch-lightning"},
               "Lightning",
               &own_loop_profile,
               lightning_space,
               with_splits(everything, {Parallelism::tensor, Parallelism::sequence}),
               lightning_defaults,
               HalfPrecision::pure,
               TimeRuns::few,
               {}}),
    tuning(torch_row(
        {spec::Framework::fsdp_qlora,
         {"fsdp-qlora", "fsdp_qlora"},
         "fsdp_qlora",
         &fsdp_qlora_profile,
         of_shardings({Sharding::ddp, Sharding::fsdp1}, {Offload::none, Offload::params, Offload::activations}),
         fsdp_qlora_abilities,
         fsdp_qlora_defaults,
         HalfPrecision::pure,
         TimeRuns::few,
         "its benchmark table"})),
    torch_row({spec::Framework::composer,
               {"composer", "llm-foundry"},
               "Composer",
               &composer_profile,
               of_shardings({Sharding::ddp, Sharding::zero2, Sharding::fsdp2},
                            {Offload::none, Offload::params, Offload::activations}),
               composer_abilities,
               composer_defaults,
               HalfPrecision::autocast,
               TimeRuns::torch,
               "llm-foundry's benchmark tables"}),
    torch_row({spec::Framework::fms_fsdp,
               {"fms-fsdp"},
               "fms-fsdp",
               &fms_fsdp_profile,
               of_shardings({Sharding::ddp, Sharding::fsdp1}, {Offload::none}),
               fms_abilities,
               fms_defaults,
               HalfPrecision::autocast,
               TimeRuns::torch,
               "its readme"}),
};

}  // namespace llmcalc::frameworks
