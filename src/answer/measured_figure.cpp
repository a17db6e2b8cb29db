#include "answer/measured_figure.hpp"

namespace llmcalc::answer {

using spec::Measure;

std::optional<double> predicted(const Estimate& estimate, Measure measure, spec::Step step) {
  const MemoryAnswer& memory = estimate.memory;
  const auto count = [](quantity::Bytes size) { return static_cast<double>(in_bytes(size)); };
  switch (measure) {
    case Measure::peak_allocated:
      return count(step == spec::Step::first ? memory.peak_first_step : memory.peak_allocated);
    case Measure::peak_reserved: return count(memory.peak_reserved);
    case Measure::nvidia_smi: return count(memory.peak_device);
    case Measure::persistent: return count(memory.persistent);
    case Measure::step_time: return estimate.timed ? std::optional(in_seconds(estimate.compute.step)) : std::nullopt;
    case Measure::tokens_per_gpu: return estimate.timed ? std::optional(estimate.compute.tokens_per_gpu) : std::nullopt;
    default:  // whether it fits is no figure, and the others are of servers (serving/measured.hpp)
      return std::nullopt;
  }
}

trust::Spread error_bar(const Estimate& estimate, Measure measure) {
  if (!is_memory(measure)) return {estimate.compute.error_share, estimate.compute.error_share};
  const bool holds_cached_blocks = measure == Measure::peak_reserved || measure == Measure::nvidia_smi;
  return holds_cached_blocks ? estimate.verdict.shown : estimate.verdict.error;
}

}  // namespace llmcalc::answer
