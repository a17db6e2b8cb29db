// What Megatron-LM and the programs that came from it or allocate like it make.
#pragma once

#include "frameworks/run.hpp"
#include "llmcalc/frameworks/profile.hpp"

namespace llmcalc::frameworks {

Profile megatron_profile(const Run& run);
Profile megatron_bridge_profile(const Run& run);
Profile nemo_profile(const Run& run);
Profile megatron_deepspeed_profile(const Run& run);
Profile internevo_profile(const Run& run);
Profile colossalai_profile(const Run& run);
Profile llm_c_profile(const Run& run);

}  // namespace llmcalc::frameworks
