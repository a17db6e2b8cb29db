#include "serving/ggml_pace.hpp"

#include "llmcalc/serving/forward.hpp"
#include "serving/step_work.hpp"

#include <algorithm>
#include <cmath>

namespace llmcalc::serving {

using quantity::Seconds;
using quantity::seconds;

namespace {

constexpr double micro = 1e-6;

/// Fitted, each row to the cards with its memory, in llama-bench without flash attention (XiongjieDai
/// GPU-Benchmarks-on-LLM-Inference README.md, Llama 3 8B and 70B, F16 and Q4_K_M, 512 to 8192 tokens; quality C, whose
/// prefill gets faster with the length, left out): median errors 3.3 % of a token, 10 % of a prompt.
struct GgmlPace {
  double weights;      ///< share of the bandwidth that products with one row reach
  double quantized;    ///< of that, with quantized weights
  double cache;        ///< share that reading the cache reaches
  double layer_us;     ///< a layer's launches
  double token_ms;     ///< a token: sampling, and the graph
  double card_ms;      ///< each card more that a token passes
  double half;         ///< share of the peak that prompts reach with 16-bit weights
  double codes;        ///< and with quantized ones
  double scores;       ///< passes over fp32 scores, which attention without a fused kernel writes out
  double cards;        ///< what a pipeline over cards loses
  double activations;  ///< passes over fp32 activations
  double chunk_us;     ///< a layer's launches for a chunk of a prompt
};

constexpr GgmlPace gddr{0.89, 1.0, 0.293, 73.0, 0.53, 0.212, 0.626, 0.368, 10.8, 1.20, 0.0, 0.0};
constexpr GgmlPace ada{0.925, 0.97, 0.348, 58.0, 0.6, 0.106, 0.626, 0.368, 10.8, 1.20, 0.0, 0.0};
constexpr GgmlPace hbm_ampere{0.488, 1.0, 0.198, 62.5, 0.2, 0.4, 1.29, 0.429, 10.9, 1.09, 3.0, 694};
constexpr GgmlPace hbm{0.624, 0.884, 0.254, 69.8, 0.5, 0.43, 1.29, 0.429, 10.9, 1.09, 3.0, 694};
constexpr GgmlPace apple{0.86, 0.875, 0.111, 150, 0.0, 0.0, 0.768, 0.584, 8.4, 1.0, 2.0, 508};

const GgmlPace& ggml_pace_of(const spec::Accelerator& gpu) {
  if (gpu.vendor == "Apple") return apple;
  const bool newer = gpu.arch.starts_with("Ada") || gpu.arch.starts_with("Blackwell");
  if (!gpu.memory_type.starts_with("HBM")) return newer ? ada : gddr;
  return gpu.arch.starts_with("Ampere") ? hbm_ampere : hbm;
}

/// Products accumulate in fp16, for which GeForce cards have twice the rate that data sheets state for fp32.
double peak_of(const spec::Accelerator& gpu) {
  const double half = quantity::in_flops_per_second(spec::half_peak(gpu));
  return gpu.name.starts_with("GeForce") ? 2.0 * half : half;
}

/// Sums over all layers of the model and its head.
struct Sums {
  double bytes = 0;
  double flops = 0;        ///< of a token, attention left out
  double cache = 0;        ///< bytes that a token reads
  double scores = 0;       ///< bytes of fp32 scores of one query
  double pairs = 0;        ///< FLOPs of one query with one key
  double activations = 0;  ///< bytes of fp32 activations of a token
  double layers = 0;
};

/// Experts that tokens of a step reach are read once: E (1 - (1 - K/E)^tokens).
double reached(const ExpertWork& experts, double tokens) {
  return experts.experts * (1.0 - std::pow(1.0 - experts.chosen / experts.experts, tokens));
}

void add_layer(const LayerWork& layer, const Deployment& deployment, double tokens, double positions, Sums& sums) {
  const auto layers = static_cast<double>(layer.layers);
  constexpr double wide = 4.0;
  for (const MatrixWork& matrix : layer.matrices) {
    sums.bytes += layers * matrix.bytes;
    sums.flops += layers * 2 * matrix.n * matrix.k;
    sums.activations += layers * wide * (matrix.n + matrix.k);
  }
  if (layer.experts) {
    sums.bytes += layers * reached(*layer.experts, tokens) * layer.experts->bytes;
    sums.flops += layers * 2 * layer.experts->chosen * layer.experts->elements;
  }
  sums.layers += layers;
  const LayerCache& kept = layer.mixer.kept;
  if (kept.reach == Reach::state) return;
  const auto seen = static_cast<double>(positions_read(kept, std::max<std::int64_t>(std::llround(positions), 1)));
  sums.cache +=
      layers * seen * static_cast<double>(quantity::in_bytes(cache_bytes(deployment.setup.cache, kept.elements)));
  sums.pairs += layers * layer.mixer.flops_per_pair;
  const double heads = layer.mixer.flops_per_pair / (4.0 * static_cast<double>(layer.mixer.head_dim));
  sums.scores += layers * wide * heads;
}

Sums sums_of(const Deployment& deployment, double tokens, double positions) {
  Sums sums;
  for (const StageWork& stage : step_work(deployment.question)) {
    for (const LayerWork& layer : stage.layers) add_layer(layer, deployment, tokens, positions, sums);
    if (stage.head) sums.bytes += stage.head->bytes;
  }
  return sums;
}

}  // namespace

/// Cards that hold layers work one after another on a token; on the chunks of a prompt they work at the same time, u
/// chunks behind each other through n cards taking u + n - 1 turns.
GgmlTimes ggml_times(const Deployment& deployment, double sequences, double positions, double prompt) {
  const spec::Accelerator& gpu = *deployment.question.gpu;
  const GgmlPace& pace = ggml_pace_of(gpu);
  const double bandwidth = quantity::in_bytes_per_second(gpu.memory_bandwidth);
  const bool quantized = !formats::is_plain(deployment.question.serving.quant);
  const auto cards = static_cast<double>(deployment.question.layout.gpus);

  const Sums one = sums_of(deployment, sequences, positions);
  double token = one.bytes / (bandwidth * pace.weights * (quantized ? pace.quantized : 1.0)) +
                 sequences * one.cache / (bandwidth * pace.cache) + one.layers * pace.layer_us * micro;
  token += 1e-3 * (pace.token_ms + pace.card_ms * (cards - 1));

  const auto chunk = static_cast<double>(deployment.question.serving.options.ubatch.value_or(512));
  const double chunks = std::ceil(prompt / chunk);
  const Sums all = sums_of(deployment, chunk, prompt);
  const double peak = peak_of(gpu);
  constexpr double streamed = 0.9;  // of the bandwidth, by a chunk that reads all 16-bit weights: assumed
  double time = prompt * all.flops / (peak * (quantized ? pace.codes : pace.half)) +
                pace.activations * prompt * all.activations / bandwidth + chunks * all.layers * pace.chunk_us * micro;
  if (!quantized) time += chunks * all.bytes / (streamed * bandwidth);
  time += pace.scores * all.scores * prompt * prompt / 2 / bandwidth;
  if (cards > 1) time *= (chunks + cards - 1) / (chunks * cards) * pace.cards;
  return {seconds(token), seconds(time)};
}

}  // namespace llmcalc::serving
