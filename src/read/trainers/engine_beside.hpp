// The vLLM in which a trainer of rewards generates its samples.
#pragma once

#include "read/launch/sheet.hpp"

#include <string_view>

namespace llmcalc::read {

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

}  // namespace llmcalc::read
