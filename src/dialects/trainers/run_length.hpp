// How long a trainer's file says that it trains, and what a trainer of rewards generates: in which vLLM, how long.
#pragma once

#include "dialects/core/sheet.hpp"

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace llmcalc::dialects {

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

/// Whether a switch says yes, or "auto".
bool packs(const Sheet& sheet, std::initializer_list<std::string_view> keys);

/// Without packing, samples are shorter than the longest.
void assume_full_sequences(Sheet& sheet, std::initializer_list<std::string_view> packing_keys);

/// What a trainer takes where the file says nothing.
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
