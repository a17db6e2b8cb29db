// Frameworks around transformers' Trainer: its own user, and those that derive from it or bring a model of it.
#pragma once

#include "frameworks/inner/ability_sets.hpp"
#include "frameworks/inner/conditions.hpp"
#include "frameworks/inner/profiles.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace llmcalc::frameworks {

inline constexpr Set<Parallelism> by_tensors_context_and_experts{Parallelism::tensor, Parallelism::sequence,
                                                                 Parallelism::context, Parallelism::experts};
inline constexpr Set<Parallelism> by_tensors_and_context{Parallelism::tensor, Parallelism::sequence,
                                                         Parallelism::context};

/// transformers' Trainer with peft, bitsandbytes, GPTQ and Liger-Kernel, DeepSpeed and accelerate behind it; learns the
/// next token alone.
inline constexpr Abilities trainer_abilities{
    .methods = all_methods,
    .algorithms = next_token,
    .shardings = all_shardings,
    .splits = by_tensors_context_and_experts,
    .exchanges = both_exchanges,
    .schedules = one_f_one_b,
    .offloads = every_offload,
    .optimizers = of_trainer,
    .quantized = all_quantized,
    .narrow = fp8.with({Dtype::mxfp8}),
    .losses = kernel_losses,
    .savings = trainer_savings,
};

constexpr Abilities trainer_abilities_with(Set<Algorithm> algorithms, Set<Parallelism> splits,
                                           Set<Optimizer> optimizers) {
  Abilities abilities = trainer_abilities;
  abilities.algorithms = algorithms;
  abilities.splits = splits;
  abilities.optimizers = optimizers;
  return abilities;
}

constexpr std::string_view trainer_file = "transformers 5.23.0 training_args.py, TrainingArguments";
constexpr std::string_view peft_file = "peft 0.21.2 tuners/lora/config.py, LoraConfig; utils/constants.py";
constexpr std::string_view bnb_file = "transformers 5.23.0 utils/quantization_config.py, BitsAndBytesConfig";
constexpr std::string_view sdpa_file = "transformers 5.23.0 modeling_utils.py, attn_implementation";
constexpr std::string_view checkpoint_file = "transformers 5.23.0 modeling_utils.py, from_pretrained: dtype=\"auto\"";

inline constexpr Default hf_defaults[] = {
    {"dtype", "fp32", "transformers before 5: from_pretrained, torch_dtype=None", before_transformers_5},
    {"dtype", "bf16", checkpoint_file},
    {"micro_batch", "8", trainer_file},
    {"recompute", "full", "peft 0.21.2 utils/other.py, prepare_model_for_kbit_training", is_qlora},
    {"optimizer_impl", "fused", "transformers 5.23.0 training_args.py: adamw_torch_fused from torch 2.8 on",
     on_torch_2_8},
    {"optimizer_impl", "foreach",
     "transformers training_args.py: adamw_torch; torch/optim, _default_to_fused_or_foreach"},
    {"attention", "sdpa", sdpa_file},
    {"sharding", "ddp", "transformers 5.23.0 trainer.py under torchrun", on_several},
    {"lora_rank", "8", peft_file},
    {"lora_targets", "q,v", peft_file, has_plain_heads},
    {"lora_dropout", "0", peft_file},
    {"weights", "fp4", bnb_file, is_qlora},
};

/// transformers' own behind the one that its kernels change.
inline constexpr auto liger_defaults = [] {
  std::array<Default, std::size(hf_defaults) + 1> defaults{
      {{"loss", "fused-linear", "Liger-Kernel 0.8.5 transformers/monkey_patch.py: fused_linear_cross_entropy=True"}}};
  std::copy(std::begin(hf_defaults), std::end(hf_defaults), defaults.begin() + 1);
  return defaults;
}();

constexpr std::string_view sft_file = "trl 1.16.0 trainer/sft_config.py, sft_trainer.py";
constexpr std::string_view trl_base_file = "trl 1.16.0 trainer/base_config.py";
constexpr std::string_view trl_model_file = "trl 1.16.0 trainer/model_config.py";

inline constexpr Default trl_defaults[] = {
    {"dtype", "mixed-bf16", "trl 1.16.0 trainer/utils.py: float32 by name; base_config.py: bf16=True"},
    {"seq", "1024", sft_file},
    {"micro_batch", "8", trainer_file},
    {"recompute", "full", trl_base_file, can_recompute},
    {"loss", "fused-linear", "trl 1.16.0 trainer/sft_trainer.py, utils.py: head and loss in tiles", learns_next_token},
    {"optimizer_impl", "fused", trainer_file},
    {"attention", "sdpa", sdpa_file},
    {"sharding", "ddp", "accelerate 1.15.0 commands/launch.py", on_several},
    {"lora_rank", "16", trl_model_file},
    {"lora_targets", "q,v", peft_file, has_plain_heads},
    {"lora_dropout", "0.05", trl_model_file},
    {"weights", "nf4", trl_model_file, is_qlora},
};

inline constexpr Default accelerate_defaults[] = {
    {"dtype", "mixed-bf16", "accelerate 1.15.0 accelerator.py, utils/fsdp_utils.py: upcast", full_under_fsdp},
    {"dtype", "bf16", checkpoint_file},
    {"attention", "sdpa", sdpa_file},
    {"optimizer_impl", "foreach", "torch/optim, _default_to_fused_or_foreach"},
    {"sharding", "ddp", "accelerate 1.15.0 commands/launch.py", on_several},
    {"lora_rank", "8", peft_file},
    {"lora_targets", "q,v", peft_file, has_plain_heads},
    {"lora_dropout", "0", peft_file},
    {"weights", "fp4", bnb_file, is_qlora},
};

constexpr std::string_view axolotl_file = "axolotl 0.19.0 utils/schemas";

inline constexpr Default axolotl_defaults[] = {
    // Its own fsdp2_prepare_model (axolotl 0.19.0 monkeypatch/accelerate/fsdp2.py) upcasts nothing.
    {"dtype", "mixed-bf16", "axolotl 0.19.0: bf16 auto, and accelerate 1.15.0 upcasts under FSDP1", full_under_fsdp1},
    {"dtype", "bf16", "axolotl 0.19.0 utils/schemas/config.py: bf16 auto"},
    {"seq", "512", axolotl_file},
    {"micro_batch", "1", axolotl_file},
    {"optimizer_impl", "fused", "axolotl 0.19.0 utils/schemas/training.py: adamw_torch_fused"},
    {"attention", "sdpa", sdpa_file},
    {"sharding", "ddp", "axolotl 0.19.0 cli/main.py: accelerate launch", on_several},
    {"lora_rank", "8", "peft's, for lora_r must be said"},
    {"lora_dropout", "0", "axolotl 0.19.0 utils/schemas/peft.py"},
    {"weights", "nf4-dq", "axolotl 0.19.0 loaders/model.py", is_qlora},
};

constexpr std::string_view factory_model_file = "LLaMA-Factory 0.9.5 hparams/model_args.py";
constexpr std::string_view factory_tuning_file = "LLaMA-Factory 0.9.5 hparams/finetuning_args.py";

inline constexpr Default llama_factory_defaults[] = {
    {"method", "lora", factory_tuning_file},
    {"dtype", "fp32", "LLaMA-Factory 0.9.5 model/adapter.py: trained weights upcast, no autocast", is_full},
    {"dtype", "bf16", "LLaMA-Factory 0.9.5 model/patcher.py"},
    {"seq", "2048", "LLaMA-Factory 0.9.5 hparams/data_args.py"},
    {"micro_batch", "8", trainer_file},
    {"recompute", "full", factory_model_file, can_recompute},
    {"optimizer_impl", "fused", trainer_file},
    {"attention", "sdpa", factory_model_file},
    {"sharding", "ddp", "LLaMA-Factory 0.9.5 launcher.py", on_several},
    {"lora_rank", "8", factory_tuning_file},
    {"lora_dropout", "0", factory_tuning_file},
    {"weights", "nf4-dq", factory_model_file, is_qlora},
};

constexpr std::string_view unsloth_file = "unsloth 2026.10.9 models/loader.py";

inline constexpr Default unsloth_defaults[] = {
    {"method", "qlora", "unsloth 2026.10.9 models/loader.py: load_in_4bit=True"},
    {"dtype", "fp16", "unsloth models/_utils.py: bf16 since compute capability 8.0", without_bf16},
    {"dtype", "bf16", "unsloth 2026.10.9 models/vision.py"},
    {"seq", "2048", unsloth_file},
    {"micro_batch", "4", "unsloth 2026.10.9 models/rl.py"},
    {"grad_accum", "2", "unsloth 2026.10.9 models/rl.py", accumulates},
    {"recompute", "full", "unsloth 2026.10.9 models/loader.py: use_gradient_checkpointing=\"unsloth\"", can_recompute},
    {"offload", "activations", "unsloth 2026.10.9 models/loader.py: checkpoints go to the host", can_recompute},
    {"optimizer", "adamw-8bit", "unsloth 2026.10.9 models/rl.py", on_replicas},
    {"optimizer_impl", "fused", "unsloth 2026.10.9 models/rl.py", under_fsdp},
    {"attention", "flash", "unsloth 2026.10.9 models/_utils.py: FlashAttention-2 where it is installed"},
    {"fused_kernels", "1", "unsloth 2026.10.9 kernels"},
    {"loss", "fused-linear", "unsloth-zoo fused_losses/cross_entropy_loss.py"},
    {"sharding", "ddp", "unsloth 2026.10.9 models/loader_utils.py under torchrun", on_several},
    {"lora_rank", "16", "unsloth 2026.10.9 models/llama.py, get_peft_model"},
    {"lora_dropout", "0", "unsloth 2026.10.9 models/llama.py, get_peft_model"},
    {"weights", "nf4-dq", "unsloth 2026.10.9 models/llama.py", is_qlora},
};

constexpr std::string_view swift_tuner_file = "ms-swift 4.6.0 arguments/tuner_args.py";

inline constexpr Default ms_swift_defaults[] = {
    {"method", "lora", "ms-swift 4.6.0 arguments/base_args"},
    {"dtype", "mixed-bf16", "ms-swift 4.6.0: bf16 follows the model, and accelerate upcasts under FSDP",
     full_under_fsdp},
    {"dtype", "bf16", "ms-swift 4.6.0 arguments/base_args/model_args.py"},
    {"micro_batch", "1", "ms-swift 4.6.0 trainers/arguments.py"},
    {"recompute", "full", "ms-swift 4.6.0 trainers/arguments.py", can_recompute},
    {"optimizer_impl", "fused", trainer_file},
    {"attention", "sdpa", sdpa_file},
    {"sharding", "ddp", "ms-swift 4.6.0 with NPROC_PER_NODE", on_several},
    {"lora_rank", "8", swift_tuner_file},
    {"lora_dropout", "0.05", swift_tuner_file},
    {"weights", "nf4-dq", "ms-swift 4.6.0 arguments/base_args/quant_args.py", is_qlora},
};

/// PPO left trl before release 1; ORPO is experimental.
inline constexpr Set<Algorithm> of_trl = all_algorithms.without({Algorithm::ppo});

constexpr FrameworkRow trainer_row(spec::Framework framework, List<std::string_view, 4> words, std::string_view title,
                                   Abilities abilities, std::span<const Default> defaults) {
  return {.framework = framework,
          .words = words,
          .title = title,
          .states = StateRecipe::torch,
          .engine = TrainingEngine::trainer,
          .profile = &transformers_profile,
          .space = trainer_space,
          .abilities = abilities,
          .defaults = defaults,
          .half = HalfPrecision::pure,
          .tunes_checkpoints = true,
          .memory_runs = MemoryRuns::huggingface,
          .time_runs = TimeRuns::few,
          .measured = {}};
}

constexpr FrameworkRow measured_by(FrameworkRow row, std::string_view runs) {
  row.measured = runs;
  return row;
}

constexpr FrameworkRow halves(FrameworkRow row, HalfPrecision half) {
  row.half = half;
  return row;
}

/// Whose kernels stand in for the modules.
constexpr FrameworkRow with_profile(FrameworkRow row, Profile (*profile)(const Run&)) {
  row.profile = profile;
  return row;
}

/// FSDP2 is the only sharding of its own.
constexpr FrameworkRow sharded_by_fsdp2(FrameworkRow row) {
  row.abilities.shardings = replicas.with({Sharding::fsdp2});
  return row;
}

inline constexpr FrameworkRow trainer_rows[] = {
    measured_by(trainer_row(spec::Framework::hf, {"hf", "transformers", "huggingface"}, "Hugging Face Trainer",
                            trainer_abilities, hf_defaults),
                "fms-acceleration's benchmark, peft's method comparison"),
    halves(trainer_row(spec::Framework::trl, {"trl"}, "TRL",
                       trainer_abilities_with(of_trl, by_tensors_and_context, of_trainer), trl_defaults),
           HalfPrecision::autocast),
    with_profile(
        trainer_row(spec::Framework::accelerate, {"accelerate"}, "accelerate",
                    trainer_abilities_with(next_token, by_tensors_and_context, all_optimizers), accelerate_defaults),
        &accelerate_profile),
    trainer_row(spec::Framework::axolotl, {"axolotl"}, "axolotl",
                trainer_abilities_with(of_trl, by_tensors_context_and_experts, of_trainer.with({Optimizer::muon})),
                axolotl_defaults),
    halves(
        trainer_row(spec::Framework::llama_factory, {"llama-factory", "llamafactory", "llama_factory"}, "LLaMA-Factory",
                    trainer_abilities_with(all_algorithms.without({Algorithm::grpo}),
                                           {Parallelism::context},  // v1/plugins/model_plugins/parallelization
                                           of_trainer.with({Optimizer::muon})),
                    llama_factory_defaults),
        HalfPrecision::autocast_of_trained),
    with_profile(sharded_by_fsdp2(trainer_row(
                     spec::Framework::unsloth, {"unsloth"}, "Unsloth",
                     trainer_abilities_with(all_algorithms, {Parallelism::context}, of_trainer), unsloth_defaults)),
                 &unsloth_profile),
    trainer_row(spec::Framework::ms_swift, {"ms-swift", "swift"}, "ms-swift",
                trainer_abilities_with(all_algorithms, by_tensors_and_context, of_trainer.with({Optimizer::muon})),
                ms_swift_defaults),
    with_profile(trainer_row(spec::Framework::liger, {"liger"}, "Hugging Face Trainer with Liger-Kernel",
                             trainer_abilities, liger_defaults),
                 &liger_profile),
};

}  // namespace llmcalc::frameworks
