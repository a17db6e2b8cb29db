#include "serving/inner/pace.hpp"

namespace llmcalc::serving {

namespace {

/// Fitted, all rows together, to what tests/measured/serving has of vLLM, SGLang and TensorRT-LLM
/// (scripts/fit-servers). What a token of a prompt takes on its way was chosen once more, of a grid, on the first
/// tokens of prompts drawn by chance when requests went through the schedulers one by one: it came out alike under all
/// three, and as cutting such text takes (docs/serve-speed.md). A sentence's is what cutting it takes, a request's what
/// is left of NVIDIA NIM's, one at a time.
constexpr Overheads common_overheads{.layer_us = 4.16,
                                     .mixture_us = 4.14,
                                     .head_norms_us = 12.3,
                                     .latents_us = 6.87,
                                     .recurrence_us = 5.98,
                                     .meeting_us = 3.39,
                                     .step_us = 126,
                                     .request_us = 14.4,
                                     .draft_step_us = 184,
                                     .draft_request_us = 197,
                                     .first_ms = 4,
                                     .token_us = 11,
                                     .natural_us = 1.8,
                                     .seat_ms = 0.4};

constexpr GgmlKernels kernels{.fused_cache = 0.70,
                              .fused_prompt = 0.55,
                              .expert_layer = 0.25,
                              .sorting_us = 200,
                              .alike = 0.61,
                              .expert_prompt = 0.8,
                              .scanned = 0.035,
                              .recurrent_us = 12,
                              .sampled_ms = 0.5,
                              .host_share = 0.5};

}  // namespace

const Overheads& overheads() { return common_overheads; }

const GgmlKernels& ggml_kernels() { return kernels; }

}  // namespace llmcalc::serving
