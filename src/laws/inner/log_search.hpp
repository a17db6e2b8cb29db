// Searches over quantities that span many powers of ten.
#pragma once

#include <cmath>
#include <numbers>
#include <numeric>

namespace llmcalc::laws {

/// The quantities that a search looks at: from one parameter, token or FLOP to far beyond what can be built.
inline constexpr double search_min = 1.0;
inline constexpr double search_max = 1e60;

/// Where a rising function passes from below `target` to at or above it, to the precision of a double.
template <class Function>
double crossing(Function rising, double target, double low = search_min, double high = search_max) {
  constexpr int halvings = 64;  // of log(1e60) = 138: below the spacing of doubles there
  double from = std::log(low);
  double to = std::log(high);
  for (int i = 0; i < halvings; ++i) {
    const double middle = std::midpoint(from, to);
    (rising(std::exp(middle)) < target ? from : to) = middle;
  }
  return std::exp(to);
}

/// Where a function with one valley is lowest, by golden sections of the logarithm.
template <class Function>
double lowest(Function valley, double low, double high) {
  constexpr int sections = 90;  // 0.618^90 of log(1e60) is below 1e-16
  const double golden = 1.0 / std::numbers::phi;
  double from = std::log(low);
  double to = std::log(high);
  for (int i = 0; i < sections; ++i) {
    const double step = golden * (to - from);
    if (valley(std::exp(to - step)) < valley(std::exp(from + step))) {
      to = from + step;
    } else {
      from = to - step;
    }
  }
  return std::exp(std::midpoint(from, to));
}

}  // namespace llmcalc::laws
