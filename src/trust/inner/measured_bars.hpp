// How far estimates were off, kind by kind of run: the rows behind the error bars.
#pragma once

#include "frameworks/table.hpp"

#include <span>

namespace llmcalc::trust {

/// Level of a measurement: bytes at one of three, or the time of a step: of a dense model on one machine, of one on
/// several, of a mixture of experts.
enum class Level { allocated, reserved, device, dense, dense_spread, mixture };

/// The share of the prediction that measured values lie within.
struct MeasuredBar {
  spec::Framework framework;
  Level level;
  double share;
  int runs;  ///< of this framework
};
struct EngineBar {
  frameworks::MemoryRuns runs;
  Level level;
  double share;
};

std::span<const MeasuredBar> measured_bars();
std::span<const EngineBar> engine_bars();  ///< for frameworks that were not measured at that level

}  // namespace llmcalc::trust
