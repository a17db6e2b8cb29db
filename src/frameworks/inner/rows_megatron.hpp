// Megatron-LM, what came from it, and frameworks that keep states as it or DeepSpeed does.
#pragma once

#include "frameworks/inner/ability_sets.hpp"
#include "frameworks/inner/conditions.hpp"
#include "frameworks/inner/profiles.hpp"

namespace llmcalc::frameworks {

constexpr std::string_view said_by_all = "the bf16 switch of every example; without it the weights are fp32";
constexpr std::string_view megatron_file = "Megatron-LM core 0.20.0 training/arguments.py";

inline constexpr Default megatron_defaults[] = {
    {"dtype", "bf16", said_by_all},
    {"packing", "1", "Megatron-LM core 0.20.0 datasets/gpt_dataset.py: documents end to end"},
    {"recompute", "none", "Megatron-LM core 0.20.0 core/transformer/transformer_config.py"},
    {"sharding", "ddp", megatron_file, on_several},
    {"dropout", "0.1", "Megatron-LM training/arguments.py: --hidden-dropout, --attention-dropout", is_gpt},
};

inline constexpr Default megatron_deepspeed_defaults[] = {
    {"dtype", "bf16", said_by_all},
    {"sharding", "ddp", "Megatron-DeepSpeed without a configuration of ZeRO", on_several},
    {"dropout", "0.1", "Megatron-DeepSpeed megatron/arguments.py: --hidden-dropout, --attention-dropout", is_gpt},
};

inline constexpr Default bridge_defaults[] = {
    {"dtype", "bf16", "Megatron-Bridge 0.7.0 training/mixed_precision.py: bf16_mixed"},
    {"seq", "2048", "Megatron-Bridge 0.7.0 recipes/common.py, PEFT", is_low_rank},
    {"seq", "4096", "Megatron-Bridge 0.7.0 recipes/common.py"},
    {"micro_batch", "1", "Megatron-Bridge 0.7.0 recipes/common.py, PEFT", is_low_rank},
    {"micro_batch", "2", "Megatron-Bridge 0.7.0 recipes/common.py"},
    {"sharding", "zero1", "Megatron-Bridge 0.7.0 recipes/utils/optimizer_utils.py", on_several},
    {"packing", "1", "Megatron-Bridge 0.7.0 recipes/common.py: packed offline"},
    {"node_dispatch", "1", "Megatron-Bridge scripts/performance/configs, moe_flex_dispatcher_backend", sends_by_node},
    {"lora_rank", "32", "Megatron-Bridge 0.7.0 recipes/common.py"},
    {"lora_dropout", "0", "Megatron-Bridge 0.7.0 recipes/common.py"},
};

inline constexpr Default nemo_defaults[] = {
    {"dtype", "bf16", said_by_all},
    {"sharding", "ddp", "as Megatron-LM's", on_several},
};

inline constexpr Default deepspeed_defaults[] = {
    {"dtype", "bf16", "DeepSpeed's bf16 block; without one the weights are fp32"},
    {"optimizer_impl", "fused", "DeepSpeed 0.19.6 runtime/engine.py: FusedAdam"},
    {"sharding", "ddp", "DeepSpeed 0.19.6 runtime/zero/config.py: stage 0", on_several},
};

inline constexpr Default internevo_defaults[] = {
    {"dtype", "bf16", "InternLM's configurations"},
    {"seq", "2048", "InternEvo 0.3.4 configs/7B_sft.py"},
    {"micro_batch", "2", "InternEvo 0.3.4 configs/7B_sft.py"},
    {"grad_accum", "4", "InternEvo 0.3.4 configs/7B_sft.py", accumulates},
    {"optimizer_impl", "loop", "InternLM 2023 internlm/train/training_internlm.py: torch's AdamW", has_internevo_loop},
    {"optimizer_impl", "fused", "InternEvo 0.3.4 train/pipeline.py"},
    {"sharding", "zero1", "InternEvo 0.3.4 initialize/launch.py", on_several},
};

inline constexpr Default colossalai_defaults[] = {
    {"dtype", "bf16", "ColossalChat 0.5.0 train_sft.py"},
    {"seq", "512", "ColossalChat 0.5.0 train_sft.py"},
    {"micro_batch", "4", "ColossalChat 0.5.0 train_sft.py"},
    {"sharding", "zero1", "ColossalAI 0.5.0 booster/plugin/low_level_zero_plugin.py", on_several},
};

inline constexpr Default llm_c_defaults[] = {
    {"dtype", "bf16", "llm.c Makefile"},
    {"seq", "1024", "llm.c train_gpt2.cu"},
    {"micro_batch", "4", "llm.c train_gpt2.cu"},
    {"loss", "fused", "llm.c llmc/fused_classifier.cuh"},
    {"sharding", "ddp", "llm.c train_gpt2.cu: zero_stage 0", on_several},
};

/// Megatron-FSDP has the stages 2 and 3, and torch's FSDP2 is a switch. Its schedules are 1F1B, interleaved or not.
inline constexpr Abilities megatron_abilities{
    .methods = pretraining,
    .algorithms = {Algorithm::sft, Algorithm::grpo},
    .shardings = replicas.with(zero).with({Sharding::fsdp2, Sharding::hsdp}),
    .splits = all_splits,
    .exchanges = both_exchanges,
    .schedules = one_f_one_b,
    .offloads = offload_states.with(offload_activations),
    .optimizers =
        adamw_alone.with({Optimizer::sgd, Optimizer::sgd_momentum, Optimizer::muon, Optimizer::lion, Optimizer::soap}),
    .quantized = whole_weights,
    .narrow = all_narrow,
    .losses = parallel_losses,
    .savings = megatron_savings,
};

/// Recipes with adapters; the algorithms of reinforcement learning are NeMo-RL's.
constexpr Abilities bridge_abilities() {
  Abilities abilities = megatron_abilities;
  abilities.methods = pretraining.with(low_rank);
  abilities.algorithms = next_token;
  abilities.optimizers = adamw_alone.with({Optimizer::muon});
  return abilities;
}

/// NeMo 2's alignment and adapters (NeMo-Aligner: DPO, KTO, PPO).
constexpr Abilities nemo_abilities() {
  Abilities abilities = bridge_abilities();
  abilities.algorithms = all_algorithms;
  return abilities;
}

/// Its engine takes any module, with peft's adapters and bitsandbytes' weights. Pipelines run 1F1B, and context is
/// split by Ulysses (runtime/pipe/schedule.py; sequence/layer.py).
inline constexpr Abilities deepspeed_abilities{
    .methods = all_methods,
    .algorithms = all_algorithms,
    .shardings = replicas.with(zero),
    .splits = {Parallelism::tensor, Parallelism::pipeline, Parallelism::context, Parallelism::experts},
    .exchanges = all_to_all,
    .schedules = one_f_one_b,
    .offloads = every_offload,
    .optimizers = all_optimizers,
    .quantized = all_quantized,
    .narrow = no_narrow,
    .losses = kernel_losses,
    .savings = deepspeed_savings,
};

inline constexpr Abilities megatron_deepspeed_abilities{
    .methods = pretraining,
    .algorithms = next_token,
    .shardings = replicas.with(zero),
    .splits = {Parallelism::tensor, Parallelism::sequence, Parallelism::pipeline, Parallelism::context,
               Parallelism::experts},
    .exchanges = both_exchanges,
    .schedules = one_f_one_b,
    .offloads = every_offload,
    .optimizers = of_torch.with({Optimizer::lamb, Optimizer::lion}),
    .quantized = whole_weights,
    .narrow = no_narrow,
    .losses = {Loss::standard, Loss::vocab_parallel},
    .savings = deepspeed_savings,
};

inline constexpr Abilities internevo_abilities{
    .methods = pretraining,
    .algorithms = next_token,
    .shardings = replicas.with({Sharding::zero1, Sharding::fsdp1}),
    .splits = {Parallelism::tensor, Parallelism::sequence, Parallelism::pipeline, Parallelism::virtual_stages,
               Parallelism::context, Parallelism::experts},
    .exchanges = all_to_all,
    .schedules = one_f_one_b,
    .offloads = offload_states,
    .optimizers = adamw_alone,
    .quantized = whole_weights,
    .narrow = no_narrow,
    .losses = {Loss::standard, Loss::fused, Loss::vocab_parallel},
    .savings = own_shard_savings,
};

inline constexpr Abilities colossalai_abilities{
    .methods = pretraining.with(low_rank).with({Method::qlora}),
    .algorithms = all_algorithms,
    .shardings = replicas.with(zero).with({Sharding::fsdp1}),
    .splits = {Parallelism::tensor, Parallelism::sequence, Parallelism::pipeline, Parallelism::virtual_stages,
               Parallelism::context, Parallelism::experts},
    .exchanges = both_exchanges,
    .schedules = one_f_one_b,
    .offloads = offload_states.with({Offload::params_optimizer}),
    .optimizers = adamw_alone.with({Optimizer::galore_adamw_8bit, Optimizer::adafactor, Optimizer::lamb}),
    .quantized = bitsandbytes,
    .narrow = fp8,
    .losses = {Loss::standard, Loss::fused, Loss::vocab_parallel},
    .savings = own_shard_savings,
};

/// GPT-2 and GPT-3 alone. The 8-bit runs measured under this row are LLMQ's, a program of the same kind.
inline constexpr Abilities llm_c_abilities{
    .methods = pretraining,
    .algorithms = next_token,
    .shardings = replicas.with({Sharding::zero1}),
    .splits = no_split,
    .exchanges = {},
    .schedules = one_f_one_b,
    .offloads = no_offload,
    .optimizers = adamw_alone,
    .quantized = whole_weights,
    .narrow = fp8,
    .losses = {Loss::standard, Loss::fused},
    .savings = own_shard_savings,
};

inline constexpr Space llm_c_space{{Sharding::ddp, Sharding::zero1}, one_schedule, {Offload::none}, false};

inline constexpr FrameworkRow megatron_rows[] = {
    {.framework = spec::Framework::megatron,
     .words = {"megatron", "megatron-lm", "megatron-core"},
     .title = "Megatron-LM",
     .states = StateRecipe::megatron,
     .engine = TrainingEngine::megatron_core,
     .profile = &megatron_profile,
     .space = megatron_space,
     .abilities = megatron_abilities,
     .defaults = megatron_defaults,
     .half = HalfPrecision::pure,
     .cuts_experts_as_layers = true,  // training/arguments.py, expert_tensor_parallel_size
     .asks_for_batch = true,
     .memory_runs = MemoryRuns::megatron,
     .time_runs = TimeRuns::megatron,
     .measured = "its functional tests, its tables, SimuMax's validation"},
    {.framework = spec::Framework::megatron_bridge,
     .words = {"megatron-bridge"},
     .title = "Megatron-Bridge",
     .states = StateRecipe::megatron,
     .engine = TrainingEngine::megatron_core,
     .profile = &megatron_bridge_profile,
     .space = megatron_space,
     .abilities = bridge_abilities(),
     .defaults = bridge_defaults,
     .half = HalfPrecision::pure,
     .memory_runs = MemoryRuns::megatron,
     .time_runs = TimeRuns::megatron,
     .measured = "its performance summaries"},
    {.framework = spec::Framework::nemo,
     .words = {"nemo"},
     .title = "NeMo",
     .states = StateRecipe::megatron,
     .engine = TrainingEngine::megatron_core,
     .profile = &nemo_profile,
     .space = megatron_space,
     .abilities = nemo_abilities(),
     .defaults = nemo_defaults,
     .half = HalfPrecision::pure,
     .cuts_experts_as_layers = true,  // it passes None on
     .asks_for_batch = true,
     .memory_runs = MemoryRuns::megatron,
     .time_runs = TimeRuns::megatron,
     .measured = "its performance summaries, MLPerf"},
    {.framework = spec::Framework::megatron_deepspeed,
     .words = {"megatron-deepspeed"},
     .title = "Megatron-DeepSpeed",
     .states = StateRecipe::deepspeed,
     .engine = TrainingEngine::deepspeed,
     .profile = &megatron_deepspeed_profile,
     .space = deepspeed_space,
     .abilities = megatron_deepspeed_abilities,
     .defaults = megatron_deepspeed_defaults,
     .half = HalfPrecision::pure,
     .widens_gradients = true,  // BF16_Optimizer (bigscience-workshop/Megatron-DeepSpeed)
     .asks_for_batch = true,
     .memory_runs = MemoryRuns::other_torch,
     .time_runs = TimeRuns::megatron,
     .measured = "vTrain's ground truth, the chronicles of BLOOM"},
    {.framework = spec::Framework::deepspeed,
     .words = {"deepspeed"},
     .title = "DeepSpeed",
     .states = StateRecipe::deepspeed,
     .engine = TrainingEngine::deepspeed,
     .profile = &deepspeed_profile,
     .space = deepspeed_space,
     .abilities = deepspeed_abilities,
     .defaults = deepspeed_defaults,
     .half = HalfPrecision::pure,
     .tunes_checkpoints = true,  // most come to it through transformers (docs, main_classes/deepspeed)
     .asks_for_batch = true,
     .memory_runs = MemoryRuns::other_torch,
     .time_runs = TimeRuns::few,
     .measured = "its documentation"},
    {.framework = spec::Framework::internevo,
     .words = {"internevo"},
     .title = "InternEvo",
     .states = StateRecipe::deepspeed,
     .engine = TrainingEngine::own,
     .profile = &internevo_profile,
     .space = megatron_space,
     .abilities = internevo_abilities,
     .defaults = internevo_defaults,
     .half = HalfPrecision::pure,
     .memory_runs = MemoryRuns::other_torch,
     .time_runs = TimeRuns::few,
     .measured = "its documentation"},
    {.framework = spec::Framework::colossalai,
     .words = {"colossalai", "colossal-ai"},
     .title = "Colossal-AI",
     .states = StateRecipe::deepspeed,
     .engine = TrainingEngine::own,
     .profile = &colossalai_profile,
     .space = megatron_space,
     .abilities = colossalai_abilities,
     .defaults = colossalai_defaults,
     .half = HalfPrecision::pure,
     .memory_runs = MemoryRuns::other_torch,
     .time_runs = TimeRuns::few,
     .measured = {}},
    {.framework = spec::Framework::llm_c,
     .words = {"llm.c"},
     .title = "llm.c",
     .states = StateRecipe::deepspeed,
     .engine = TrainingEngine::own,
     .profile = &llm_c_profile,
     .space = llm_c_space,
     .abilities = llm_c_abilities,
     .defaults = llm_c_defaults,
     .half = HalfPrecision::pure,
     .memory_runs = MemoryRuns::other_torch,
     .time_runs = TimeRuns::few,
     .measured = "its readme and LLMQ's"},
};

}  // namespace llmcalc::frameworks
