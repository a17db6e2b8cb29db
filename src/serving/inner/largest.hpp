// Bisection on what holds up to some number and not beyond.
#pragma once

#include <algorithm>
#include <cstdint>

namespace llmcalc::serving {

/// The largest n for which `holds`, which holds for all smaller ones; 0 where it does not hold for 1. It was asked of
/// both the answer and, below the limit, of one more.
template <class Holds>
std::int64_t largest(std::int64_t limit, const Holds& holds) {
  if (limit < 1 || !holds(1)) return 0;
  std::int64_t low = 1;
  std::int64_t high = 2;
  while (high < limit && holds(high)) {
    low = high;
    high *= 2;
  }
  high = std::min(high, limit);
  if (holds(high)) return high;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace llmcalc::serving
