// Megatron-LM, what came from it, and frameworks that keep states as it or DeepSpeed does.
#pragma once

#include "frameworks/megatron_frameworks.hpp"
#include "frameworks/spaces.hpp"
#include "frameworks/torch_frameworks.hpp"

namespace llmcalc::frameworks {

inline constexpr Row megatron_rows[] = {
    {spec::Framework::megatron,
     {"megatron", "megatron-lm"},
     States::megatron,
     Engine::megatron_core,
     &megatron_profile,
     megatron_space,
     MemoryRuns::megatron,
     TimeRuns::megatron},
    {spec::Framework::nemo,
     {"nemo"},
     States::megatron,
     Engine::megatron_core,
     &nemo_profile,
     megatron_space,
     MemoryRuns::megatron,
     TimeRuns::megatron},
    {spec::Framework::megatron_deepspeed,
     {"megatron-deepspeed"},
     States::deepspeed,
     Engine::deepspeed,
     &megatron_deepspeed_profile,
     deepspeed_space,
     MemoryRuns::other_torch,
     TimeRuns::megatron},
    {spec::Framework::deepspeed,
     {"deepspeed"},
     States::deepspeed,
     Engine::deepspeed,
     &deepspeed_profile,
     deepspeed_space,
     MemoryRuns::other_torch,
     TimeRuns::few},
    {spec::Framework::internevo,
     {"internevo"},
     States::deepspeed,
     Engine::own,
     &internevo_profile,
     megatron_space,
     MemoryRuns::other_torch,
     TimeRuns::few},
    {spec::Framework::colossalai,
     {"colossalai"},
     States::deepspeed,
     Engine::own,
     &colossalai_profile,
     megatron_space,
     MemoryRuns::other_torch,
     TimeRuns::few},
    {spec::Framework::llm_c,
     {"llm.c"},
     States::deepspeed,
     Engine::own,
     &llm_c_profile,
     unsplit(megatron_space),
     MemoryRuns::other_torch,
     TimeRuns::few},
};

}  // namespace llmcalc::frameworks
