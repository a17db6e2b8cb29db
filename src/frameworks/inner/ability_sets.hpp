// Sets of abilities that several frameworks share.
#pragma once

#include "frameworks/abilities.hpp"
#include "frameworks/inner/conditions.hpp"

namespace llmcalc::frameworks {

using spec::SaveCheckpoint;

// How frameworks write checkpoints, the first way that holds being what each does where its user says nothing.

inline constexpr Condition under_fsdp1 = [](const spec::Question& q) {
  return q.layout.sharding == spec::Sharding::fsdp1;
};
inline constexpr Condition under_zero3 = [](const spec::Question& q) {
  return q.layout.sharding == spec::Sharding::zero3;
};
inline constexpr Condition under_zero = [](const spec::Question& q) {
  return spec::zero_stage(q.layout.sharding) > 0 && !spec::is_fsdp(q.layout.sharding);
};

constexpr std::string_view gathered_by_deepspeed =
    "DeepSpeed runtime/engine.py, _zero3_consolidated_16bit_state_dict (stage3_gather_16bit_weights_on_model_save)";
constexpr std::string_view sharded_by_deepspeed =
    "DeepSpeed runtime/engine.py, _save_zero_checkpoint; torch/serialization.py: a flat buffer is one storage";
constexpr std::string_view sharded_by_torch = "torch/distributed/checkpoint/filesystem.py, _OverlappingCpuLoader";
constexpr std::string_view staged_by_torch = "torch/distributed/_state_dict_utils.py, _create_cpu_state_dict";

/// A model that is whole on its accelerator is written by safetensors, in files of 50 GB.
constexpr std::int64_t largest_file = 50'000'000'000;

inline constexpr Saving trainer_savings[] = {
    {.way = SaveCheckpoint::full_cpu,
     .source = "accelerate 1.15.0 utils/dataclasses.py, set_state_dict_type; utils/fsdp_utils.py, save_fsdp_optimizer",
     .holds = under_fsdp1,
     .gathers_optimizer = true},
    {.way = SaveCheckpoint::sharded,
     .source = "accelerate 1.15.0 utils/dataclasses.py: SHARDED_STATE_DICT of FSDP2",
     .holds = under_fsdp},
    {.way = SaveCheckpoint::sharded,
     .source = sharded_by_deepspeed,
     .holds = under_zero,
     .writing = CheckpointWriting::by_buffer},
    {.way = SaveCheckpoint::full_cpu,
     .source = gathered_by_deepspeed,
     .holds = under_zero3,
     .writing = CheckpointWriting::by_buffer,
     .leaves_out_frozen = true},
    {.way = SaveCheckpoint::full,
     .source =
         "transformers 5.23.0 modeling_utils.py, save_pretrained: max_shard_size; safetensors/torch.py, save_file",
     .writing = CheckpointWriting::by_file,
     .file_bytes = largest_file},
};

inline constexpr Saving deepspeed_savings[] = {
    {.way = SaveCheckpoint::sharded, .source = sharded_by_deepspeed, .writing = CheckpointWriting::by_buffer},
    {.way = SaveCheckpoint::full_cpu,
     .source = gathered_by_deepspeed,
     .writing = CheckpointWriting::by_buffer,
     .leaves_out_frozen = true},
};

/// Synchronous saves too copy the whole shard before a byte is written.
constexpr std::string_view staged_by_megatron =
    "Megatron-LM core/dist_checkpointing/strategies/filesystem_async.py, preload_tensors; fully_parallel.py";

inline constexpr Saving megatron_savings[] = {
    {.way = SaveCheckpoint::sharded,
     .source = staged_by_megatron,
     .writing = CheckpointWriting::whole,
     .leaves_out_frozen = true,
     .spreads_replicas = true},
    {.way = SaveCheckpoint::async,
     .source = staged_by_megatron,
     .writing = CheckpointWriting::whole,
     .leaves_out_frozen = true,
     .spreads_replicas = true},
};

inline constexpr Saving torchtitan_savings[] = {
    {.way = SaveCheckpoint::sharded, .source = "torchtitan components/checkpoint.py: async_mode \"disabled\""},
    {.way = SaveCheckpoint::async,
     .source = "torchtitan components/checkpoint.py: async_mode \"async\" or \"async_with_pinned_mem\"",
     .writing = CheckpointWriting::whole},
};

inline constexpr Saving torchtune_savings[] = {
    {.way = SaveCheckpoint::full_cpu,
     .source = "torchtune training/_distributed.py, gather_cpu_state_dict, get_full_optimizer_state_dict",
     .gathers_optimizer = true},
    {.way = SaveCheckpoint::async, .source = staged_by_torch, .writing = CheckpointWriting::whole},
};

inline constexpr Saving litgpt_savings[] = {
    {.way = SaveCheckpoint::full_cpu, .source = "LitGPT finetune/full.py: FSDPStrategy(state_dict_type=\"full\")"},
    {.way = SaveCheckpoint::sharded, .source = sharded_by_torch},
};

constexpr std::string_view gathered_by_torch =
    "torch/distributed/fsdp/_unshard_param_utils.py: offload_to_cpu, rank0_only";

inline constexpr Saving sharding_savings[] = {
    {.way = SaveCheckpoint::sharded, .source = sharded_by_torch},
    {.way = SaveCheckpoint::full_cpu, .source = gathered_by_torch, .gathers_optimizer = true},
};

/// Composer's state_dict_type and fsdp_qlora's train.py, save_model.
inline constexpr Saving gathering_savings[] = {
    {.way = SaveCheckpoint::full_cpu, .source = gathered_by_torch, .gathers_optimizer = true},
    {.way = SaveCheckpoint::sharded, .source = sharded_by_torch},
};

inline constexpr Saving maxtext_savings[] = {
    {.way = SaveCheckpoint::async,
     .source = "MaxText configs/base.yml: async_checkpointing=True",
     .writing = CheckpointWriting::whole},
    {.way = SaveCheckpoint::sharded,
     .source = "MaxText configs/base.yml: async_checkpointing=False",
     .writing = CheckpointWriting::whole},
};

/// Each rank writes what it has with torch.save.
inline constexpr Saving own_shard_savings[] = {
    {.way = SaveCheckpoint::sharded, .source = "torch/serialization.py, _save: storage by storage"},
};

/// A program of one's own, and the textbook; Lightning's FSDPStrategy gathers unasked.
inline constexpr Saving all_savings[] = {
    {.way = SaveCheckpoint::full_cpu, .source = gathered_by_torch, .gathers_optimizer = true},
    {.way = SaveCheckpoint::full,
     .source = "torch/distributed/fsdp/_state_dict_utils.py, _full_post_state_dict_hook: a clone of every weight"},
    {.way = SaveCheckpoint::sharded, .source = sharded_by_torch},
    {.way = SaveCheckpoint::async, .source = staged_by_torch, .writing = CheckpointWriting::whole},
};

using formats::Dtype;
using spec::Algorithm;
using spec::ContextExchange;
using spec::Loss;
using spec::Method;
using spec::Offload;
using spec::Optimizer;
using spec::Schedule;
using spec::Sharding;

/// Any program can run its model forward.
inline constexpr Set<Method> pretraining{Method::full, Method::inference, Method::forward_only};
inline constexpr Set<Method> low_rank{Method::lora, Method::dora};
inline constexpr Set<Method> all_methods = pretraining.with(low_rank).with(
    {Method::qlora, Method::adalora, Method::ia3, Method::prompt, Method::prefix, Method::adapter, Method::galore});

inline constexpr Set<Algorithm> next_token{Algorithm::sft};
inline constexpr Set<Algorithm> preferences{Algorithm::sft, Algorithm::dpo, Algorithm::orpo, Algorithm::kto};
inline constexpr Set<Algorithm> all_algorithms = preferences.with({Algorithm::ppo, Algorithm::grpo});

inline constexpr Set<Sharding> replicas{Sharding::none, Sharding::ddp};
inline constexpr Set<Sharding> zero{Sharding::zero1, Sharding::zero2, Sharding::zero3};
inline constexpr Set<Sharding> fsdp{Sharding::fsdp1, Sharding::fsdp2, Sharding::hsdp};
inline constexpr Set<Sharding> all_shardings = replicas.with(zero).with(fsdp);

inline constexpr Set<Parallelism> no_split{};
inline constexpr Set<Parallelism> all_splits{Parallelism::tensor,         Parallelism::sequence, Parallelism::pipeline,
                                             Parallelism::virtual_stages, Parallelism::context,  Parallelism::experts,
                                             Parallelism::expert_tensor};

inline constexpr Set<ContextExchange> ring{ContextExchange::ring};
inline constexpr Set<ContextExchange> all_to_all{ContextExchange::all_to_all};
inline constexpr Set<ContextExchange> both_exchanges = ring.with(all_to_all);

inline constexpr Set<Schedule> one_f_one_b{Schedule::one_f_one_b};
inline constexpr Set<Schedule> every_schedule{Schedule::one_f_one_b, Schedule::gpipe, Schedule::zero_bubble};

inline constexpr Set<Offload> no_offload{Offload::none};
inline constexpr Set<Offload> offload_states{Offload::none, Offload::optimizer, Offload::optimizer_gradients};
inline constexpr Set<Offload> offload_weights{Offload::none, Offload::params};
inline constexpr Set<Offload> offload_activations{Offload::activations};
inline constexpr Set<Offload> every_offload =
    offload_states.with(offload_weights).with(offload_activations).with({Offload::params_optimizer});

/// Nothing is updated where nothing is trained.
inline constexpr Set<Optimizer> adamw_alone{Optimizer::adamw, Optimizer::none};
/// torch.optim (Muon since torch 2.9).
inline constexpr Set<Optimizer> of_torch = adamw_alone.with(
    {Optimizer::sgd, Optimizer::sgd_momentum, Optimizer::adagrad, Optimizer::adafactor, Optimizer::muon});
inline constexpr Set<Optimizer> of_bitsandbytes{Optimizer::adamw_8bit, Optimizer::paged_adamw,
                                                Optimizer::paged_adamw_8bit, Optimizer::lion, Optimizer::lamb};
/// tr/training_args.py of transformers, OptimizerNames: no Muon, no LAMB.
inline constexpr Set<Optimizer> of_trainer =
    of_torch.with(of_bitsandbytes)
        .with({Optimizer::adamw_4bit, Optimizer::galore_adamw_8bit, Optimizer::apollo, Optimizer::apollo_mini,
               Optimizer::lomo, Optimizer::adalomo})
        .without({Optimizer::muon, Optimizer::lamb});
inline constexpr Set<Optimizer> all_optimizers =
    of_trainer.with({Optimizer::muon, Optimizer::lamb, Optimizer::shampoo, Optimizer::soap});

inline constexpr Set<Dtype> whole_weights{};
inline constexpr Set<Dtype> bitsandbytes{Dtype::nf4, Dtype::nf4_dq, Dtype::fp4, Dtype::fp4_dq, Dtype::int8};
inline constexpr Set<Dtype> all_quantized =
    bitsandbytes.with({Dtype::int4_gptq, Dtype::int8_gptq, Dtype::int4, Dtype::mxfp4});

inline constexpr Set<Dtype> no_narrow{};
inline constexpr Set<Dtype> fp8{Dtype::fp8_e4m3, Dtype::fp8_e5m2};
inline constexpr Set<Dtype> all_narrow = fp8.with({Dtype::mxfp8, Dtype::nvfp4});

inline constexpr Set<Loss> standard_loss{Loss::standard, Loss::compiled};
inline constexpr Set<Loss> chunked_loss = standard_loss.with({Loss::chunked});
/// Liger-Kernel, Cut Cross-Entropy and the like take the place of transformers' loss.
inline constexpr Set<Loss> kernel_losses = chunked_loss.with({Loss::fused, Loss::fused_linear, Loss::cut});
inline constexpr Set<Loss> parallel_losses{Loss::standard, Loss::vocab_parallel, Loss::vocab_parallel_fused,
                                           Loss::te_fused};
inline constexpr Set<Loss> all_losses = kernel_losses.with(parallel_losses);

/// A program of one's own, and the textbook.
inline constexpr Abilities everything{all_methods,    all_algorithms, all_shardings, all_splits,
                                      both_exchanges, every_schedule, every_offload, all_optimizers,
                                      all_quantized,  all_narrow,     all_losses,    all_savings};

}  // namespace llmcalc::frameworks
