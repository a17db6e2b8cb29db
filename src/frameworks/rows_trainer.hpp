// Frameworks that train with transformers' Trainer.
#pragma once

#include "frameworks/spaces.hpp"
#include "frameworks/torch_frameworks.hpp"

namespace llmcalc::frameworks {

constexpr Row trainer_row(spec::Framework framework, List<std::string_view, 4> words,
                          Profile (*profile)(const Run&) = &transformers_profile) {
  return {framework,    words, States::torch, Engine::trainer, profile, unsplit(torch_space), MemoryRuns::huggingface,
          TimeRuns::few};
}

inline constexpr Row trainer_rows[] = {
    trainer_row(spec::Framework::hf, {"hf", "transformers", "huggingface"}),
    trainer_row(spec::Framework::ms_swift, {"ms-swift"}),
    trainer_row(spec::Framework::axolotl, {"axolotl"}),
    trainer_row(spec::Framework::unsloth, {"unsloth"}),
    trainer_row(spec::Framework::liger, {"liger"}, &liger_profile),
};

}  // namespace llmcalc::frameworks
