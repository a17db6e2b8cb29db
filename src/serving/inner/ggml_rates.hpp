// What llama.cpp's kernels reach on each kind of card.
#pragma once

namespace llmcalc::serving {

/// By memory, and by the chips that stand on it.
enum class GgmlCard { gddr, ada, gddr7, lpddr, pascal, volta, ampere, hopper, blackwell, apple };

struct GgmlPace {
  double half = 0;      ///< share of the bandwidth that products with one row reach, of 16-bit weights
  double codes = 0;     ///< and of quantized ones
  double unpacked = 0;  ///< TB/s of quantized weights that a card unpacks at most, whatever its bandwidth; 0: any
  double cache = 0;     ///< share of the bandwidth that attention without a fused kernel reaches
  double layer_us = 0;  ///< a layer's launches
  double fused_us = 0;  ///< and since several kernels were made one
  double token_ms = 0;  ///< a token: sampling, and the graph
  double card_ms = 0;   ///< each card more that a token passes
};

const GgmlPace& ggml_pace_of(GgmlCard card);

/// Cards of whose prompts one was measured for all.
enum class GgmlPromptKind { gddr, lpddr, hbm, apple };

constexpr GgmlPromptKind prompts_like(GgmlCard card) {
  if (card == GgmlCard::lpddr) return GgmlPromptKind::lpddr;
  if (card == GgmlCard::apple) return GgmlPromptKind::apple;
  const bool hbm = card == GgmlCard::ampere || card == GgmlCard::hopper || card == GgmlCard::blackwell;
  return hbm ? GgmlPromptKind::hbm : GgmlPromptKind::gddr;
}

struct GgmlPrompts {
  double prompt_half = 0;  ///< share of the peak that prompts reach with 16-bit weights
  double prompt = 0;       ///< and with quantized ones
  double scores = 0;       ///< passes over fp32 scores, which attention without a fused kernel writes out
  double cards = 0;        ///< what a pipeline over cards loses
  double activations = 0;  ///< passes over fp32 activations
  double chunk_us = 0;     ///< a layer's launches for a chunk of a prompt
};

const GgmlPrompts& ggml_prompts_of(GgmlCard card);

/// The same everywhere; all but the first and the third measured on one card alone (DGX Spark).
struct GgmlKernels {
  double fused_cache = 0;    ///< share of the bandwidth that fused attention reads keys, values and states at
  double fused_prompt = 0;   ///< share of the peak that it reaches in a prompt
  double expert_layer = 0;   ///< launches that routed experts add to a layer's
  double sorting_us = 0;     ///< and where several rows are sorted by their experts, a layer
  double alike = 0;          ///< as many as b to this power choose their experts independently
  double expert_prompt = 0;  ///< of the rate of other products in a prompt, by routed experts
  double recurrent_us = 0;   ///< launches that a recurrence adds to a layer's
  double sampled_ms = 0;     ///< a token that a server draws from the vocabulary on the host, and sends
};

const GgmlKernels& ggml_kernels();

}  // namespace llmcalc::serving
