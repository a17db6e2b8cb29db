// What an error bar makes of a need and a capacity.
#pragma once

#include "llmcalc/quantity/quantity.hpp"

#include <optional>

namespace llmcalc::spec {
struct Question;
}

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

/// Of one accelerator: what the person said, else what the part offers; empty without either.
std::optional<quantity::Bytes> capacity_of(const spec::Question& question);

/// By how much the high end of the error bar exceeds the capacity, in bytes; negative where it fits.
double excess(const spec::Question& question, quantity::Bytes needed, quantity::Bytes capacity);

/// What the allocator of sharded layers would cache reaches the capacity, though what must fit does not: such runs have
/// died, because blocks of gathered weights are not given back in time.
bool saturates(const spec::Question& question, quantity::Bytes needed, quantity::Bytes capacity);

VerdictKind judge(const spec::Question& question, quantity::Bytes needed);

}  // namespace llmcalc::trust
