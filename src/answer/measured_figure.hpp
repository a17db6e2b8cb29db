// The figure of an estimate that a measurement is compared with.
#pragma once

#include "llmcalc/answer/estimate.hpp"
#include "spec/measurement.hpp"

#include <optional>

namespace llmcalc::answer {

/// The prediction of what was measured, in the unit of read::MeasuredRun::value: bytes at that level and in that step,
/// seconds a step, or tokens a second and accelerator. Empty for time where no accelerator is known, and for verdicts.
std::optional<double> predicted(const Estimate& estimate, spec::Measure measure, spec::Step step);

/// The error bar that the estimate states for what was measured.
trust::Spread error_bar(const Estimate& estimate, spec::Measure measure);

}  // namespace llmcalc::answer
