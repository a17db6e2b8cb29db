// What trainers have in common beyond single keys: precision, adapters, FSDP and DeepSpeed of those around Hugging
// Face's Trainer, Megatron-LM's arguments, and how long a run is.
#pragma once

#include "dialects/core/letter.hpp"
#include "dialects/core/sheet.hpp"

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace llmcalc::dialects {

/// The type in which weights are loaded where only `bf16: true` is said.
enum class Loads {
  fp32,        ///< transformers 4 and trl: autocast above fp32 weights
  checkpoint,  ///< transformers 5: that of published weights, bf16, under bf16; fp16 scales gradients of fp32 weights
  half         ///< axolotl, ms-swift: weights in that type
};

/// bf16, fp16, tf32 and the type of the weights. With DeepSpeed, whose engine keeps fp32 copies, both mean one recipe.
void take_precision(Sheet& sheet, std::initializer_list<std::string_view> dtype_keys, Loads loads);

/// Whether a trainer quantizes the statistics of 4-bit weights as well where its file says nothing.
enum class Nested {
  no,  ///< trl trainer/model_config.py, transformers utils/quantization_config.py
  yes  ///< axolotl loaders/model.py, LLaMA-Factory hparams/model_args.py
};

/// load_in_4bit, quantization_bit and bnb_4bit_*: the weights of QLoRA. False where nothing is quantized.
bool take_quantization(Sheet& sheet, Nested usual);

/// The method of adapters: DoRA's norms are made of quantized weights as well (peft tuners/lora/bnb.py, dora.py).
/// \param narrow  the type of a base in few bits where nothing says it; empty: it is whole
std::string adapter_method(Sheet& sheet, std::string_view narrow, std::string_view decomposes = "use_dora");

/// Whose names of keys differ where adapters are written.
struct AdapterKeys {
  std::string_view rank;
  std::string_view targets;
  std::string_view saved;               ///< modules that are trained whole
  std::string_view all = "all-linear";  ///< of every linear layer; empty: a switch, lora_target_linear
  std::string_view between = " ";       ///< names of modules
};
/// Rank, dropout and modules of adapters, under the method that they belong to.
void write_adapters(Letter& letter, const AdapterKeys& keys);
/// Their names in transformers' modeling_llama.py and its kin.
std::string modules_of(const std::vector<std::string>& targets, std::string_view all, std::string_view between);
bool has_adapters(const spec::Question& question);
bool in_4_bits(const spec::Question& question);

/// The counterparts of take_precision, take_optimizer_impl, take_recompute and take_fsdp.
void write_precision(Letter& letter, std::string_view dtype_key, Loads loads);
void write_optimizer(Letter& letter, std::string_view key);
void write_recompute(Letter& letter);
/// FSDP under the keys of TrainingArguments. \param names  "full_shard auto_wrap" under `fsdp` as well
void write_fsdp(Letter& letter, bool names);
/// The configuration of accelerate: ranks, and how they share the states.
void write_accelerate(Letter& letter);
/// The configuration where DeepSpeed's engine keeps the states.
void write_accelerate_engine(Letter& letter);
/// DeepSpeed's file, which the trainer's settings name: batch, stage, what leaves the accelerator and the type. Empty
/// where the trainer keeps the states itself.
std::string write_deepspeed(Letter& letter);
/// "accelerate launch ..." in front of a program, behind the file that it names where there is more to say than ranks.
std::string accelerated(const Letter& letter, std::string_view program);

/// Names of modules, a pattern that ends with them, or "all-linear"; with all that a LoraConfig says beside them.
void take_targets(Sheet& sheet, std::initializer_list<std::string_view> keys);

/// Whose version of FSDP counts where none is said.
enum class UsualFsdp {
  accelerate,   ///< 1 (utils/dataclasses.py, FullyShardedDataParallelPlugin)
  transformers  ///< 2 since 5.10, of 3 June 2026, 1 before (training_args.py, _process_fsdp_args)
};

/// fsdp, fsdp_config.* and fsdp_version, with and without the prefix fsdp_ on the keys inside.
void take_fsdp(Sheet& sheet, UsualFsdp usual = UsualFsdp::accelerate);

/// gradient_checkpointing and its other names.
void take_recompute(Sheet& sheet, std::initializer_list<std::string_view> keys);

/// How the step of torch's AdamW is computed, which its names in TrainingArguments.optim tell apart.
void take_optimizer_impl(Sheet& sheet);

/// A DeepSpeed file by its name.
/// \param batch  sequences of an accelerator unasked: the trainer's own, also where DeepSpeed runs it; empty:
/// DeepSpeed's
void take_deepspeed(Sheet& sheet, std::string_view key, std::string_view batch);

/// The stage and what moves away by the name of a DeepSpeed file that nobody can read: "zero3_offload".
void take_zero_by_name(Sheet& sheet, const Setting& file);

/// A configuration of accelerate, or what the name of one says that nobody can read: "zero3", "fsdp2", "multi_gpu"
/// (trl/accelerate_configs).
void take_accelerate_by_name(Sheet& sheet, std::string_view key);

/// DeepSpeed's stage and what it moves away, under the keys that say so.
void take_zero(Sheet& sheet, std::string_view stage, std::string_view optimizer, std::string_view params);

/// The batch of an evaluation, where the run evaluates.
/// \param usual  where the file does not say it; empty: that of the training
void take_evaluation(Sheet& sheet, bool evaluates, std::string_view usual, std::string_view whose);

/// Whether transformers' Trainer evaluates (training_args.py, eval_strategy).
bool evaluates(const Sheet& sheet);

/// use_galore.
void take_galore(Sheet& sheet);

/// Takes words for the training of a reward model, where that is the algorithm.
void assume_reward_model(Sheet& sheet, std::string_view key);

/// Accelerators of a node, as many as a trainer takes where nobody says, times the nodes; nothing where neither is
/// said.
void take_cluster(Sheet& sheet, std::string_view per_node, std::string_view nodes, std::int64_t usual);

/// The model that an experiment of Primus names by a file of its own: "llama3.1_8B.yaml".
void take_model_file(Sheet& sheet);

/// Liger's kernels, whose loss is fused with the head (Liger-Kernel transformers/monkey_patch.py).
void take_liger(Sheet& sheet, std::string_view key);

/// accelerate keeps what FSDP trains in fp32 under mixed precision, whatever it was loaded as (accelerator.py,
/// _prepare_fsdp2; utils/fsdp_utils.py, fsdp2_prepare_model).
void widen_under_fsdp(Sheet& sheet);

/// MLP, biases, tied tables, grouped heads, experts and vocabulary.
void take_megatron_model(Sheet& sheet);
void write_megatron_model(Letter& letter);

/// Precision, recompute, virtual stages, sharding and the loss, under the names of Megatron-LM's arguments.
void take_megatron_run(Sheet& sheet);
void write_megatron_run(Letter& letter);

/// How often a trainer goes through its data where the file says nothing.
struct UsualEpochs {
  std::string_view count;
  std::string_view whose;
};

/// training_args.py, num_train_epochs; trl's configurations and LLaMA-Factory's and ms-swift's arguments leave it.
inline constexpr UsualEpochs transformers_epochs{"3", "transformers default"};

/// The keys of one trainer.
struct LengthKeys {
  std::string_view steps;  ///< optimizer steps; empty or below one where epochs count
  std::initializer_list<std::string_view> epochs;
  std::initializer_list<std::string_view> packing = {};
  std::string_view samples = {};  ///< cuts each of its data sets to so many
  UsualEpochs usual = {};         ///< empty where a trainer has no default: its files always say it
};

/// Steps win over epochs (transformers trainer.py, set_initial_training_values). Epochs and packing are about samples:
/// they are words, which `with_options` leaves out where nobody says how many samples there are.
void take_length(Sheet& sheet, const LengthKeys& keys);

/// Without packing, samples are shorter than the longest.
void assume_full_sequences(Sheet& sheet, std::initializer_list<std::string_view> packing_keys);

/// Values that a trainer takes where the file says nothing.
struct UsualEngine {
  std::string_view mode;   ///< vllm_mode; empty where the file has to say it
  std::string_view share;  ///< vllm_gpu_memory_utilization
  std::string_view whose;
};

inline constexpr UsualEngine trl_engine{"colocate", "0.3", "trl default"};  ///< trl trainer/grpo_config.py
inline constexpr UsualEngine swift_engine{"", "0.9", "ms-swift default"};   ///< swift/rlhf_trainers/args_mixin.py

/// use_vllm, vllm_mode and vllm_gpu_memory_utilization: an engine on the same accelerators keeps its share of them.
void take_engine_beside(Sheet& sheet, const UsualEngine& usual);

/// Which key says how long a prompt may be, and how much is generated behind it where the file does not say.
struct Lengths {
  std::string_view prompt;
  std::int64_t generated;
};
inline constexpr Lengths trl_lengths{"max_prompt_length", 256};  ///< trl trainer/grpo_config.py
inline constexpr Lengths swift_lengths{"max_length", 512};       ///< swift/arguments/rlhf_args.py
inline constexpr Lengths axolotl_lengths{"sequence_len", 256};   ///< axolotl core/builders/rl.py, and trl's

/// A sequence is a prompt and what is generated behind it, where the algorithm generates; else the prompt is part of
/// it.
void take_generated_length(Sheet& sheet, const Lengths& lengths);

}  // namespace llmcalc::dialects
