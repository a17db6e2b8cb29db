#include "serving/inner/ggml_work.hpp"

#include "serving/forward.hpp"
#include "serving/inner/pace.hpp"
#include "serving/inner/step_work.hpp"

#include <algorithm>
#include <cmath>

namespace llmcalc::serving {

namespace {

/// Experts that tokens of a step reach are read once: E (1 - (1 - K/E)^tokens), were each to choose for itself.
double reached(const ExpertWork& experts, double tokens) {
  const double apart = std::pow(tokens, ggml_kernels().alike);
  return experts.experts * (1.0 - std::pow(1.0 - experts.chosen / experts.experts, apart));
}

void add_attention(const LayerWork& layer, const Deployment& deployment, double positions, GgmlWork& sums) {
  const auto layers = static_cast<double>(layer.layers);
  sums.cache += 2 * layers * layer.mixer.state_bytes;
  if (layer.mixer.state_bytes > 0) sums.recurrences += layers;
  const LayerCache& kept = layer.mixer.kept;
  if (kept.reach == Reach::state) return;
  constexpr double wide = 4.0;
  const auto seen = static_cast<double>(positions_read(kept, std::max<std::int64_t>(std::llround(positions), 1)));
  sums.cache +=
      layers * seen * static_cast<double>(quantity::in_bytes(cache_bytes(deployment.setup.cache, kept.elements)));
  sums.pairs += layers * seen * layer.mixer.flops_per_pair;
  const double heads = layer.mixer.flops_per_pair / (4.0 * static_cast<double>(layer.mixer.head_dim));
  sums.scores += layers * wide * heads;
}

void add_layer(const LayerWork& layer, const Deployment& deployment, const StepShape& step, GgmlWork& sums) {
  const auto layers = static_cast<double>(layer.layers);
  constexpr double wide = 4.0;
  for (const MatrixWork& matrix : layer.matrices) {
    sums.bytes += layers * matrix.bytes;
    sums.flops += layers * 2 * matrix.n * matrix.k;
    sums.activations += layers * wide * (matrix.n + matrix.k);
  }
  if (layer.experts) {
    sums.bytes += layers * reached(*layer.experts, step.rows) * layer.experts->bytes;
    sums.expert_flops += layers * 2 * layer.experts->chosen * layer.experts->elements;
    sums.mixtures += layers;
  }
  sums.layers += layers;
  add_attention(layer, deployment, step.positions, sums);
}

}  // namespace

GgmlWork ggml_work(const Deployment& deployment, const StepShape& step) {
  GgmlWork sums;
  for (const StageWork& stage : step_work(deployment.question)) {
    for (const LayerWork& layer : stage.layers) add_layer(layer, deployment, step, sums);
    if (stage.head) sums.bytes += stage.head->bytes;
  }
  return sums;
}

}  // namespace llmcalc::serving
