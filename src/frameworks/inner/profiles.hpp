// What each program makes of a run: how it allocates, and in which kernels.
#pragma once

#include "frameworks/profile.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/accelerator.hpp"
#include "llmcalc/spec/training.hpp"

#include <optional>

namespace llmcalc::frameworks {

/// Facts that a profile depends on.
struct Run {
  const spec::Training& training;
  const std::optional<spec::Accelerator>& gpu;
};

/// The profile of textbooks, and of programs of which no more is known.
Profile textbook_profile(const Run& run);
Profile maxtext_profile(const Run& run);
Profile pax_profile(const Run& run);

/// PyTorch's own operations, a chain where others have one kernel; gradients are made in each backward pass.
Profile own_loop_profile(const Run& run);
Profile litgpt_profile(const Run& run);
Profile torchtune_profile(const Run& run);
Profile torchtitan_profile(const Run& run);
Profile composer_profile(const Run& run);
Profile fsdp_qlora_profile(const Run& run);
Profile fms_fsdp_profile(const Run& run);
Profile deepspeed_profile(const Run& run);

/// Models of transformers, with peft where adapters are trained.
Profile transformers_profile(const Run& run);
Profile accelerate_profile(const Run& run);
Profile trl_profile(const Run& run);
Profile axolotl_profile(const Run& run);
Profile unsloth_profile(const Run& run);
Profile liger_profile(const Run& run);

/// Megatron-LM, and the programs that came from it or allocate like it.
Profile megatron_profile(const Run& run);
Profile megatron_bridge_profile(const Run& run);
Profile nemo_profile(const Run& run);
Profile megatron_deepspeed_profile(const Run& run);
Profile internevo_profile(const Run& run);
Profile colossalai_profile(const Run& run);
Profile llm_c_profile(const Run& run);

/// DeepSpeed's engine around a program's profile.
void apply_deepspeed(const Run& run, Profile& profile);

/// Those of a PyTorch process.
quantity::Bytes product_workspaces(const Run& run);

/// Parameter-sized temporaries of torch.optim's step.
int step_temporaries(const spec::Training& training);

}  // namespace llmcalc::frameworks
