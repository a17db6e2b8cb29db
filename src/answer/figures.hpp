// Figures of an estimate that others ask for by themselves: data, power, failures, a model's size, what was measured.
#pragma once

#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/answer/operation.hpp"
#include "llmcalc/spec/question.hpp"
#include "llmcalc/spec/shape.hpp"
#include "program/count.hpp"
#include "program/program.hpp"
#include "spec/measurement.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace llmcalc::answer {

/// How much data the run sees.
struct Budget {
  quantity::Tokens tokens;
  std::string source;
  std::int64_t length = 0;  ///< tokens of a sequence: of --seq, or of a sample that has one to itself

  /// Optimizer steps that see all of it.
  double steps(const spec::Training& training) const {
    return in_tokens(tokens) / (static_cast<double>(training.global_batch) * static_cast<double>(length));
  }
};

/// Tokens a parameter: 67B and 1.5T at Gopher's budget, 20 to 22 over all budgets (Hoffmann et al. 2022,
/// arXiv:2203.15556, table 3).
inline constexpr double compute_optimal_ratio = 20.0;

/// As said; by default 20 tokens a parameter.
Budget token_budget(const spec::Question& question, std::int64_t parameters);

/// Tokens a second and accelerator, as in the estimate, of which nothing else is made; 0 without an accelerator.
double tokens_per_gpu(const spec::Question& question);

/// A warning of fewer tokens than anybody pre-trains with who means it; empty where there are enough.
std::optional<std::string> too_few_tokens(quantity::Tokens tokens);

/// Empty where neither the person nor the preset knows the accelerator's power.
std::optional<Footprint> footprint(const spec::Question& question, double gpu_hours);

/// Goodput: what failures and checkpoints leave of a run's useful time. It is the same for all layouts of a run.
struct WallClock {
  quantity::Bytes checkpoint;
  quantity::Seconds save;      ///< one checkpoint
  quantity::Seconds interval;  ///< training between two, as said or as loses least
  bool stated_interval = false;
  quantity::Seconds restart;
  quantity::Seconds mtbf;      ///< of the whole run; infinite: nothing fails
  bool long_run_ends = false;  ///< of the longest run, of which each interval is saved, some share is useful

  /// Training between two checkpoints: a step at least where nobody says, and no more than there is.
  quantity::Seconds segment(quantity::Seconds step, quantity::Seconds useful) const;
  /// Useful over wall time; 0: failures come faster than the run can restart.
  double share(quantity::Seconds step, quantity::Seconds useful) const;
  /// Whether no run of as many longer steps ends sooner. Where failures come faster than most runs restart, longer
  /// intervals may be the ones that end.
  bool grows_with_steps() const { return long_run_ends || stated_interval; }
};

/// Says that failures come faster than a run restarts; empty where it makes progress, or nobody knows how long it
/// takes.
std::string never_finishes(const Estimate& estimate);

WallClock wall_clock(const spec::Question& question, quantity::Bytes checkpoint);

/// The size of a model that nobody has asked to run, counted as an estimate counts: from the step program of the
/// plainest run. \throws quantity::BadInput when the shape is none (spec::build_model)
SizeAnswer model_size(const spec::Shape& shape);

/// The prediction of what was measured, in the unit of read::MeasuredRun::value: bytes at that level and in that step,
/// seconds a step, or tokens a second and accelerator. Empty for time where no accelerator is known, and for verdicts.
std::optional<double> predicted(const Estimate& estimate, spec::Measure measure, spec::Step step);

/// The error bar that the estimate states for what was measured.
trust::Spread error_bar(const Estimate& estimate, spec::Measure measure);

}  // namespace llmcalc::answer
