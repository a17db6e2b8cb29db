// Where the middle and the edge of sorted figures lie.
#pragma once

#include <cstddef>
#include <vector>

namespace llmcalc::trust {

/// \pre sorted is not empty
inline double median(const std::vector<double>& sorted) {
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : 0.5 * (sorted[middle - 1] + sorted[middle]);
}

/// In whole percent: 0.95 is no binary number, and 0.95 * 20 may come out above 19.
/// \pre sorted is not empty, 0 < percent <= 100
inline double nearest_rank(const std::vector<double>& sorted, std::size_t percent) {
  return sorted[(percent * sorted.size() + 99) / 100 - 1];
}

}  // namespace llmcalc::trust
