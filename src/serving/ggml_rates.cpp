#include "serving/inner/ggml_rates.hpp"

namespace llmcalc::serving {

namespace {

/// Of tests/measured/serving: tokens of llama-bench of Llama 3 8B and 70B without flash attention (2024), of ten models
/// on eleven cards with it (2026), of five models on a DGX Spark and of a dozen on consumer cards; prompts of Llama 3
/// alone but on the Spark. Launches of fused kernels are what later builds take beyond their weights, a mean by kind.
/// What was not measured of a kind is its nearest relative's: 16-bit weights of LPDDR, Pascal, Volta, GDDR7 and
/// Blackwell, prompts of Pascal, Volta, GDDR7 and Blackwell, cards in a row but of GDDR, launches of a time that has
/// no runs of the kind.
constexpr GgmlPace gddr{.half = 0.84,
                        .codes = 0.825,
                        .unpacked = 0,
                        .cache = 0.33,
                        .layer_us = 58,
                        .fused_us = 42,
                        .token_ms = 0.13,
                        .card_ms = 0.25};
constexpr GgmlPace ada{.half = 0.92,
                       .codes = 0.96,
                       .unpacked = 0,
                       .cache = 0.30,
                       .layer_us = 58,
                       .fused_us = 25,
                       .token_ms = 0.115,
                       .card_ms = 0.25};
constexpr GgmlPace gddr7{.half = 0.85,
                         .codes = 0.85,
                         .unpacked = 0,
                         .cache = 0.30,
                         .layer_us = 58,
                         .fused_us = 30,
                         .token_ms = 0.115,
                         .card_ms = 0.25};
constexpr GgmlPace lpddr{.half = 0.86,
                         .codes = 0.86,
                         .unpacked = 0,
                         .cache = 0.30,
                         .layer_us = 23,
                         .fused_us = 23,
                         .token_ms = 1.25,
                         .card_ms = 0.25};
constexpr GgmlPace pascal{.half = 0.60,
                          .codes = 0.275,
                          .unpacked = 0,
                          .cache = 0.30,
                          .layer_us = 151,
                          .fused_us = 140,
                          .token_ms = 0.05,
                          .card_ms = 0.25};
constexpr GgmlPace volta{.half = 0.89,
                         .codes = 0.89,
                         .unpacked = 0,
                         .cache = 0.24,
                         .layer_us = 156,
                         .fused_us = 145,
                         .token_ms = 0.03,
                         .card_ms = 0.25};
constexpr GgmlPace ampere{.half = 0.533,
                          .codes = 0.67,
                          .unpacked = 0,
                          .cache = 0.365,
                          .layer_us = 125,
                          .fused_us = 106,
                          .token_ms = 0.03,
                          .card_ms = 0.25};
constexpr GgmlPace hopper{.half = 0.616,
                          .codes = 0.593,
                          .unpacked = 2.05,
                          .cache = 0.197,
                          .layer_us = 84,
                          .fused_us = 64,
                          .token_ms = 0.03,
                          .card_ms = 0.25};
constexpr GgmlPace blackwell{.half = 0.616,
                             .codes = 0.593,
                             .unpacked = 2.4,
                             .cache = 0.197,
                             .layer_us = 81,
                             .fused_us = 63,
                             .token_ms = 0.06,
                             .card_ms = 0.25};
constexpr GgmlPace apple{.half = 0.852,
                         .codes = 0.77,
                         .unpacked = 0,
                         .cache = 0.119,
                         .layer_us = 144,
                         .fused_us = 130,
                         .token_ms = 0,
                         .card_ms = 0};

constexpr GgmlPrompts gddr_prompts{
    .prompt_half = 0.626, .prompt = 0.368, .scores = 10.8, .cards = 1.20, .activations = 0, .chunk_us = 0};
constexpr GgmlPrompts lpddr_prompts{
    .prompt_half = 0.30, .prompt = 0.25, .scores = 10.8, .cards = 1.20, .activations = 0, .chunk_us = 0};
constexpr GgmlPrompts hbm_prompts{
    .prompt_half = 1.29, .prompt = 0.429, .scores = 10.9, .cards = 1.09, .activations = 3.0, .chunk_us = 694};
constexpr GgmlPrompts apple_prompts{
    .prompt_half = 0.768, .prompt = 0.584, .scores = 8.4, .cards = 1.0, .activations = 2.0, .chunk_us = 508};

constexpr GgmlKernels kernels{.fused_cache = 0.70,
                              .fused_prompt = 0.55,
                              .expert_layer = 0.25,
                              .sorting_us = 200,
                              .alike = 0.61,
                              .expert_prompt = 0.5,
                              .recurrent_us = 12,
                              .sampled_ms = 0.5};

}  // namespace

const GgmlPace& ggml_pace_of(GgmlCard card) {
  static constexpr const GgmlPace* paces[] = {&gddr,  &ada,    &gddr7,  &lpddr,     &pascal,
                                              &volta, &ampere, &hopper, &blackwell, &apple};
  return *paces[static_cast<int>(card)];
}

const GgmlPrompts& ggml_prompts_of(GgmlCard card) {
  static constexpr const GgmlPrompts* prompts[] = {&gddr_prompts, &lpddr_prompts, &hbm_prompts, &apple_prompts};
  return *prompts[static_cast<int>(prompts_like(card))];
}

const GgmlKernels& ggml_kernels() { return kernels; }

}  // namespace llmcalc::serving
