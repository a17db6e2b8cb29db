// What programs on PyTorch without Megatron-LM's kernels allocate.
#pragma once

#include "frameworks/run.hpp"
#include "llmcalc/frameworks/profile.hpp"

namespace llmcalc::frameworks {

/// PyTorch's own operations, a chain where others have one kernel; gradients are made in each backward pass.
Profile eager_profile(const Run& run);

Profile litgpt_profile(const Run& run);
Profile torchtune_profile(const Run& run);
Profile torchtitan_profile(const Run& run);
Profile composer_profile(const Run& run);
Profile fsdp_qlora_profile(const Run& run);
Profile fms_fsdp_profile(const Run& run);
Profile deepspeed_profile(const Run& run);

/// Models of transformers, with peft where adapters are trained.
Profile transformers_profile(const Run& run);
Profile liger_profile(const Run& run);

}  // namespace llmcalc::frameworks
