#include "serving/inner/drafting.hpp"

#include "llmcalc/spec/question.hpp"
#include "serving/inner/ggml_pace.hpp"

namespace llmcalc::serving {

using quantity::in_seconds;

Drafting::Drafting(const Deployment& deployment, const timing::ServingKernels& kernels) : deployment_(deployment) {
  const spec::Draft& draft = deployment.question.serving.options.draft;
  if (draft.kind != spec::DraftKind::none) proposed_ = static_cast<double>(draft.tokens);
  const bool on_torch = !spec::reads_gguf(deployment.question.serving.engine);
  if (deployment.draft && on_torch) model_.emplace(*deployment.draft, kernels);
}

double Drafting::kept() const {
  double sum = 1.0;
  double share = 1.0;
  for (double i = 0; i < proposed_; ++i) sum += share *= deployment_.question.serving.options.accept;
  return sum;
}

double Drafting::proposing(const StepClock* own, double judged, double sequences, double positions) const {
  if (proposed_ == 0) return 0.0;
  if (model_) return proposed_ * in_seconds(model_->decode(sequences, positions, 1.0).total());
  if (deployment_.draft) return proposed_ * in_seconds(ggml_times(*deployment_.draft, sequences, positions, 1).token);
  if (own != nullptr) return proposed_ * in_seconds(own->propose(sequences, positions).total());
  return judged * proposed_ / static_cast<double>(deployment_.question.model.layer_count());
}

double Drafting::reading(double sequences, double positions) const {
  if (model_) return in_seconds(model_->prompt(sequences, positions).total());
  return deployment_.draft ? in_seconds(ggml_times(*deployment_.draft, sequences, positions, positions).prompt) : 0.0;
}

}  // namespace llmcalc::serving
