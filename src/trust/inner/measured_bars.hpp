// How far estimates were off, kind by kind of run: the rows behind the error bars.
#pragma once

#include "frameworks/table.hpp"

#include <span>
#include <string_view>

namespace llmcalc::trust {

/// What is trained beside what, which decides what a run allocates.
enum class Tuned { whole, adapters, four_bits };

/// Shares of the prediction that measured ones lie within, and how many runs say so.
struct MeasuredMemory {
  spec::Framework framework;
  Tuned tuned;
  double allocated;
  int allocated_runs;
  double device;
  int device_runs;
};
struct FamilyMemory {
  frameworks::MemoryRuns runs;
  double allocated;
  int allocated_runs;
  double device;
  int device_runs;
};
struct MeasuredTime {
  spec::Framework framework;
  bool mixture;
  std::string_view generation;  ///< first word of the accelerator's architecture; empty: any other
  double share;
  int runs;
};
struct FamilyTime {
  frameworks::MemoryRuns family;
  bool mixture;
  double share;
  int runs;
};

std::span<const MeasuredMemory> measured_memory();
std::span<const FamilyMemory> family_memory();  ///< for what was not measured
std::span<const MeasuredTime> measured_time();
std::span<const FamilyTime> family_time();

}  // namespace llmcalc::trust
