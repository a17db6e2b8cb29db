#include "llmcalc/trust/time_error_bar.hpp"

#include "llmcalc/frameworks/table.hpp"

namespace llmcalc::trust {

namespace {

// The 90th percentile of |predicted - measured| / predicted over the measured step times and speeds of a class in
// tests/measured/time, rounded up to a percent.
constexpr TimeErrorBar megatron{"Megatron, dense models", 0.18, 1006};
constexpr TimeErrorBar mixture{"mixtures of experts", 0.27, 91};
constexpr TimeErrorBar torch{"sharded PyTorch programs", 0.15, 678};
constexpr TimeErrorBar other{"frameworks with few measured runs", 0.25, 67};

bool is_mixture(const spec::Question& question) { return question.model.shape.moe.experts > 0; }

}  // namespace

const TimeErrorBar& time_error_bar(const spec::Question& question) {
  if (is_mixture(question)) return mixture;
  switch (frameworks::row_of(question.training.framework).time_runs) {
    case frameworks::TimeRuns::megatron:
      return megatron;
    case frameworks::TimeRuns::torch:
      return torch;
    case frameworks::TimeRuns::few:
      break;
  }
  return other;
}

}  // namespace llmcalc::trust
