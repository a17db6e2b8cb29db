// Frameworks with a training loop of their own on PyTorch.
#pragma once

#include "frameworks/spaces.hpp"
#include "frameworks/torch_frameworks.hpp"

namespace llmcalc::frameworks {

constexpr Row torch_row(spec::Framework framework, List<std::string_view, 4> words, Profile (*profile)(const Run&),
                        Space space, TimeRuns time) {
  return {framework, words, States::torch, Engine::own, profile, space, MemoryRuns::other_torch, time};
}

inline constexpr Row torch_rows[] = {
    torch_row(spec::Framework::litgpt, {"litgpt"}, &litgpt_profile, unsplit(torch_space), TimeRuns::torch),
    torch_row(spec::Framework::torchtune, {"torchtune"}, &torchtune_profile, unsplit(torch_space), TimeRuns::torch),
    torch_row(spec::Framework::torchtitan, {"torchtitan"}, &torchtitan_profile, torch_space, TimeRuns::torch),
    torch_row(spec::Framework::torch, {"torch", "pytorch"}, &eager_profile, torch_space, TimeRuns::torch),
    torch_row(spec::Framework::fsdp_qlora, {"fsdp-qlora"}, &fsdp_qlora_profile, unsplit(torch_space), TimeRuns::few),
    torch_row(spec::Framework::composer, {"composer", "llm-foundry"}, &composer_profile, unsplit(torch_space),
              TimeRuns::torch),
    torch_row(spec::Framework::fms_fsdp, {"fms-fsdp"}, &fms_fsdp_profile, unsplit(torch_space), TimeRuns::torch),
};

}  // namespace llmcalc::frameworks
