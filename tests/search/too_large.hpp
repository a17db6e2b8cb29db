// Runs that are too large, and what advice about them is asked with.
#pragma once

#include "../answer/asking.hpp"
#include "llmcalc/quantity/error.hpp"
#include "search/advice.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace llmcalc::test {

inline std::string options_of(const std::vector<spec::Word>& terms) {
  std::string options;
  for (auto [term, value, _] : terms) {
    std::ranges::replace(term, '_', '-');
    options += " --" + term + " " + value;
  }
  return options;
}

/// Changed terms typed behind the line.
inline std::optional<search::Restated> restated(const std::string& line, const std::vector<spec::Word>& terms) try {
  return search::Restated{question(line + options_of(terms)), [terms] { return terms; }};
} catch (const quantity::BadInput&) {
  return std::nullopt;
}

inline std::vector<spec::ProposedAccelerator> some_larger() {
  const auto proposed = [](const spec::Accelerator& gpu) {
    return spec::ProposedAccelerator(gpu.memory_usable, [gpu] { return gpu; });
  };
  const read::Catalogue catalogue;
  return {proposed(catalogue.accelerator("h200-sxm", "test").accelerator),
          proposed(catalogue.accelerator("b200-sxm", "test").accelerator)};
}

// One question for every way in which a run can be too large.
inline const std::string too_large[] = {
    "--model llama-3-8b --framework torch --sharding fsdp1 --gpu rtx-4090:8 --seq 1k --recompute full "
    "--save-checkpoint full",
    "--model llama-3-8b --dtype mixed-bf16 --gpu a100-80-sxm",
    "--model llama-3-8b --dtype bf16 --framework hf --micro-batch 4 --gpu h100-sxm",
    "--model llama-3-8b --dtype bf16 --framework hf --micro-batch 6 --seq 8192 --gpu h200-sxm",
    "--model llama-2-7b --dtype bf16 --framework hf --attention eager --seq 4096 --gpu h100-sxm",
    "--model gpt2-xl --dtype mixed-bf16 --framework hf --micro-batch 12 --seq 1024 --gpu rtx-4090",
    "--model llama-2-70b --dtype bf16 --framework megatron --tp 8 --sp 1 --gpus 64 --grad-accum 8 --gpu h100-sxm",
    "--model llama-2-13b --dtype bf16 --framework deepspeed --gpus 8 --dp 8 --gpu a100-40-sxm",
    "--model llama-2-70b --dtype bf16 --framework deepspeed --gpus 8 --dp 2 --pp 4 --sharding zero1 --gpu h100-sxm",
    "--model mistral-7b --dtype bf16 --framework torchtune --micro-batch 64 --gpus 4 --gpu a100-40-sxm",
    "--model llama-2-13b --dtype bf16 --framework torch --gpus 8 --dp 8 --sharding ddp --gpu a100-80-sxm",
    "--model mixtral-8x7b --dtype bf16 --framework torchtitan --gpus 8 --sharding ddp --gpu h100-sxm",
    "--model llama-3-8b --dtype bf16 --framework hf --method lora --lora-rank 16 --micro-batch 8 --gpu rtx-4090",
    "--model llama-3-8b --dtype bf16 --framework ms-swift --method full --algorithm dpo --recompute full --gpu "
    "a100-80-sxm",
    "--model llama-3-8b --dtype bf16 --framework ms-swift --method full --recompute none --algorithm ppo --gpu "
    "h100-sxm",
    "--model llama-3-8b --dtype bf16 --framework hf --method prefix --micro-batch 32 --seq 2048 --gpu a100-40-sxm",
    "--model gpt2-xl --dtype bf16 --framework megatron --recompute selective --recompute-modules mlp --micro-batch 64"
    " --seq 1024 --gpu a100-40-sxm",
};

}  // namespace llmcalc::test
