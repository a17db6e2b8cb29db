// Values that the trainers around PyTorch spell in their own ways.
#pragma once

#include "dialects/core/format.hpp"

namespace llmcalc::dialects {

inline constexpr Spelling attention_words[] = {
    {"flash_attention_2", "flash"},
    {"flash_attention_3", "flash"},
    {"flash_attention2", "flash"},
    {"flash_attn", "flash"},
    {"flash", "flash"},
    {"fa2", "flash"},
    {"kernels-community/flash-attn", "flash"},
    {"kernels-community/flash-attn2", "flash"},
    {"kernels-community/vllm-flash-attn3", "flash"},
    {"sdpa", "sdpa"},
    {"eager", "eager"},
    {"disabled", "eager"},
    {"flex_attention", "sdpa"},
    {"flex", "sdpa"},
    {"xformers", "flash"},
};

/// transformers training_args.py, OptimizerNames; those whose states are not modelled are not here.
inline constexpr Spelling optimizer_words[] = {
    {"adamw_torch", "adamw"},
    {"adamw_torch_fused", "adamw"},
    {"adamw", "adamw"},
    {"adam", "adamw"},
    {"adamw_hf", "adamw"},
    {"adamw_apex_fused", "adamw"},
    {"fusedadam", "adamw"},
    {"cpuadam", "adamw"},
    {"deepspeedcpuadam", "adamw"},
    {"adamw_bnb_8bit", "adamw-8bit"},
    {"adamw_8bit", "adamw-8bit"},
    {"adamw_torch_8bit", "adamw-8bit"},
    {"adamw_torch_4bit", "adamw-4bit"},
    {"paged_adamw", "paged-adamw"},
    {"paged_adamw_32bit", "paged-adamw"},
    {"paged_adamw_8bit", "paged-adamw-8bit"},
    {"adafactor", "adafactor"},
    {"lion_32bit", "lion"},
    {"lion", "lion"},
    {"lion_pytorch", "lion"},
    {"sgd", "sgd"},
    {"adagrad", "adagrad"},
    {"muon", "muon"},
    {"lamb", "lamb"},
    {"fusedlamb", "lamb"},
    {"shampoo", "shampoo"},
    {"soap", "soap"},
    {"galore_adamw_8bit", "galore-adamw-8bit"},
    {"galore_adamw_8bit_layerwise", "galore-adamw-8bit"},
    {"apollo_adamw", "apollo"},
    {"apollo_adamw_layerwise", "apollo"},
    {"lomo", "lomo"},
    {"adalomo", "adalomo"},
};

/// PyTorch's types, as gradients accumulate in them.
inline constexpr Spelling gradient_words[] = {{"fp32", "fp32"},     {"float32", "fp32"}, {"bf16", "bf16"},
                                              {"bfloat16", "bf16"}, {"fp16", "fp16"},    {"float16", "fp16"}};

}  // namespace llmcalc::dialects
