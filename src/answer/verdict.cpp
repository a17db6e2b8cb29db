#include "answer/parts.hpp"

namespace llmcalc::answer {

using quantity::in_bytes;

namespace {

/// Half width of the error bar, by how the activations were found.
struct ErrorBar {
  double share;
  const char* source;
};

ErrorBar error_bar(const spec::Question& question) {
  if (question.training.activations != spec::ActivationModel::program) return {0.0, "textbook totals: no error is claimed"};
  if (question.training.framework == spec::Framework::generic) {
    return {0.10, "assumed: the textbook describes no framework exactly"};
  }
  return {0.08, "measured: single-GPU rows of docs/accuracy.md"};
}

}  // namespace

Verdict verdict(const spec::Question& question, const MemoryAnswer& memory) {
  Verdict v;
  const ErrorBar bar = error_bar(question);
  v.needed = memory.peak_device;
  v.error_share = bar.share;
  v.error_source = bar.source;
  if (!question.gpu && !question.pricing.memory) return v;
  v.capacity = question.pricing.memory ? *question.pricing.memory : question.gpu->memory_usable;
  const auto needed = static_cast<double>(in_bytes(v.needed));
  const auto capacity = static_cast<double>(in_bytes(v.capacity));
  if (needed > capacity) {
    v.kind = VerdictKind::does_not_fit;
  } else {
    v.kind = needed * (1.0 + bar.share) > capacity ? VerdictKind::tight : VerdictKind::fits;
  }
  return v;
}

}  // namespace llmcalc::answer
