// How frameworks write checkpoints, the first way that holds being what each does where its user says nothing.
#pragma once

#include "frameworks/inner/conditions.hpp"
#include "frameworks/saving.hpp"

namespace llmcalc::frameworks {

using spec::SaveCheckpoint;

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

}  // namespace llmcalc::frameworks
