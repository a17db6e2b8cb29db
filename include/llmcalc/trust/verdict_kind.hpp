// What an error bar makes of a need and a capacity.
#pragma once

#include "llmcalc/quantity/quantity.hpp"

#include <optional>
#include <string>
#include <vector>

namespace llmcalc::spec {
struct MemoryLimits;
struct Question;
}  // namespace llmcalc::spec

namespace llmcalc::trust {

enum class VerdictKind {
  fits,   ///< the high end of the error bar is within the capacity
  tight,  ///< the likely figure is, the high end is not
  does_not_fit,
  no_accelerator
};

/// How far from their estimates runs were measured, as shares of the estimate: the two arms of an error bar.
struct Spread {
  double below = 0.0;
  double above = 0.0;

  friend bool operator==(const Spread&, const Spread&) = default;
};

/// As far below as above.
constexpr Spread even(double share) { return {share, share}; }

/// Memory of one accelerator: what the person said, else what the part offers; empty without either.
std::optional<quantity::Bytes> capacity_of(const spec::Question& question);

/// Shares of a capacity that are taken beyond the limits, a sentence each; of no capacity nothing need be left.
std::vector<std::string> beyond(const spec::MemoryLimits& limits, quantity::Bytes need, quantity::Bytes capacity);

/// By how much the high end of the error bar exceeds the capacity, in bytes; negative where it fits.
double excess(const spec::Question& question, quantity::Bytes needed, quantity::Bytes capacity);

/// Excess over the memory of one machine, of which its ranks need so much together; negative where they need none.
/// Frameworks allocate further buffers there: DeepSpeed reckons with half as much again (runtime/zero/stage3.py,
/// estimate_zero3_model_states_mem_needs, additional_buffer_factor), and what torch pins comes in blocks of a power of
/// two (aten/src/ATen/core/CachingHostAllocator.h).
double host_excess(const spec::Question& question, quantity::Bytes of_machine);

/// Tight where the high end of the error bar does not fit, or what the allocator caches fills the memory.
VerdictKind judge_accelerator(const spec::Question& question, quantity::Bytes needed, quantity::Bytes capacity);

/// Where nothing is needed of the machine's memory, or nobody says how much there is, it fits.
VerdictKind judge_host(const spec::Question& question, quantity::Bytes of_machine);

/// Need of a run in the two memories that can run out.
struct Need {
  quantity::Bytes accelerator;  ///< of one
  quantity::Bytes host = {};    ///< of one machine
};

/// The worse of two verdicts: on the accelerator, and on the machine's memory where it holds something of the run.
VerdictKind judge(const spec::Question& question, const Need& need);

/// Why a run that likely fits may not.
enum class Doubt {
  none,       ///< it fits, or it does not
  error_bar,  ///< of the need on an accelerator
  cached,     ///< blocks that the allocator of sharded layers keeps reach the capacity, though what must fit does not
  host,       ///< buffers of the machine's memory, beside what is held there
};

/// The first of them, where a run is tight.
Doubt doubt_of(const spec::Question& question, const Need& need);

}  // namespace llmcalc::trust
