#include "serving/inner/encoder_run.hpp"

#include "layers/widths.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/spec/question.hpp"

#include <algorithm>

namespace llmcalc::serving {

using layers::half_width;
using quantity::Bytes;
using quantity::product;

namespace {

/// Three tensors as wide as the hidden state and three as the MLP, as of the text model's layers; the encoder's are cut
/// over the ranks as well (vLLM config/multimodal.py, mm_encoder_tp_mode "weights").
Bytes pass_peak(const spec::Tower& tower, std::int64_t items, std::int64_t tp) {
  const std::int64_t width =
      quantity::checked_add(3 * tower.layers.hidden, quantity::ceil_divide(3 * tower.layers.ffn, tp));
  return quantity::bytes(product(items, tower.positions, half_width, width));
}

}  // namespace

/// A step encodes images of as many tokens as its own, and one at least (vLLM v1/core/encoder_cache_manager.py,
/// compute_mm_encoder_budget); the profile run takes that many of the kind with most tokens
/// (v1/worker/gpu_model_runner.py, profile_run).
EncoderRun encoder_run(const Deployment& deployment, std::int64_t tokens) {
  const auto& question = deployment.question;
  EncoderRun run;
  if (question.training.towers == spec::TowerUse::absent) return run;
  for (const spec::Tower& tower : question.model.shape.towers) {
    const std::int64_t of_item = tower.positions / std::max<std::int64_t>(tower.merged, 1);
    if (of_item <= 0) continue;
    const std::int64_t items = std::max<std::int64_t>(tokens / of_item, 1);
    const Bytes outputs = quantity::bytes(product(items, of_item, question.model.shape.hidden, half_width));
    const Bytes peak = outputs + pass_peak(tower, items, question.layout.tp);
    if (peak > run.peak) run = {items, outputs, peak};
  }
  return run;
}

}  // namespace llmcalc::serving
