// Curves that runs were fitted on, batch size, learning rate and loss by compute, and how a point on one is found.
#pragma once

#include "laws/scaling_law.hpp"
#include "quantity/elementary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>

namespace llmcalc::laws {

/// Tokens of the batch that balances steps against data: 2.1e8 / L^(1/0.21) with the loss L of the compute-efficient
/// model (Kaplan et al. 2020, arXiv:2001.08361, equations 1.4 and 1.3).
double critical_batch(double compute);

/// Price of a batch against the least data and the least steps: with x = batch / critical batch, 1 + x times the
/// least data and 1 + 1/x times the least steps (McCandlish et al. 2018, arXiv:1812.06162, section 2).
struct BatchPrice {
  double data;
  double steps;
};
BatchPrice batch_price(double batch, double critical);

/// DeepSeek-AI 2024, arXiv:2401.02954, equation 1.
inline constexpr Interval deepseek_fitted{1e17, 2e19};  ///< FLOP of the runs it was fitted on
double deepseek_batch(double compute);                  ///< tokens: 0.2920 C^0.3271
double deepseek_learning_rate(double compute);          ///< 0.3118 C^-0.1250

/// The quantities that a search looks at: from one parameter, token or FLOP to far beyond what can be built.
inline constexpr double search_min = 1.0;
inline constexpr double search_max = 1e60;

/// A logarithm that was tried, and how far the function is from its target there.
struct Point {
  double x, f;
};

/// Where to try next between two points on either side of zero, as a share of the way from the first to the second:
/// where the inverse of the parabola through both and a third is zero, if it is monotone there, else half way
/// (Chandrupatla 1997, A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function).
inline double share_of_way(const Point& first, const Point& second, const Point& third) {
  const double xi = (first.x - second.x) / (third.x - second.x);
  const double phi = (first.f - second.f) / (third.f - second.f);
  const bool is_monotone = phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi;
  if (!is_monotone) return 0.5;
  return first.f / (second.f - first.f) * third.f / (second.f - third.f) +
         (third.x - first.x) / (second.x - first.x) * first.f / (third.f - first.f) * second.f / (third.f - second.f);
}

/// Where a rising function passes from below `target` to at or above it, to the precision of a double.
template <class Function>
double crossing(Function rising, double target, double low = search_min, double high = search_max) {
  const auto at = [&](double x) { return Point{x, rising(quantity::exp(x)) - target}; };
  Point last = at(quantity::log(low));
  Point other = at(quantity::log(high));
  if (last.f >= 0.0) return low;
  if (other.f < 0.0) return high;
  double share = 0.5;
  for (;;) {
    const double precision = std::numeric_limits<double>::epsilon() * std::max(1.0, std::abs(other.x));
    const double least = precision / std::abs(other.x - last.x);
    if (!(least < 0.5)) break;
    const Point tried = at(std::lerp(last.x, other.x, std::clamp(share, least, 1.0 - least)));
    const bool same_side = (tried.f < 0.0) == (last.f < 0.0);
    const Point before = same_side ? last : std::exchange(other, last);
    last = tried;
    share = share_of_way(last, other, before);
  }
  return quantity::exp(last.f < 0.0 ? other.x : last.x);
}

/// Where a function with one valley is lowest, by golden sections of the logarithm, of which each has one end of its
/// middle from the one before (Kiefer 1953, Sequential minimax search for a maximum).
template <class Function>
double lowest(Function valley, double low, double high) {
  constexpr int sections = 90;  // 0.618^90 of log(1e60) is below 1e-16
  constexpr double golden = 1.0 / std::numbers::phi;
  const auto at = [&](double x) { return valley(quantity::exp(x)); };
  double from = quantity::log(low);
  double to = quantity::log(high);
  double left = to - golden * (to - from);
  double right = from + golden * (to - from);
  double at_left = at(left);
  double at_right = at(right);
  for (int i = 1; i < sections; ++i) {
    if (at_left < at_right) {
      to = std::exchange(right, left);
      at_right = at_left;
      left = to - golden * (to - from);
      at_left = at(left);
    } else {
      from = std::exchange(left, right);
      at_left = at_right;
      right = from + golden * (to - from);
      at_right = at(right);
    }
  }
  return quantity::exp(std::midpoint(from, to));
}

/// The loss as a sum of what the model and what the data leave undone: L(P, D) = E + A / P^alpha + B / D^beta
/// (Hoffmann et al. 2022, arXiv:2203.15556, equation 10).
struct LossSurface {
  double irreducible;  ///< E
  double a, alpha;
  double b, beta;
};

/// L - E.
double reducible_loss(const LossSurface& surface, const Allocation& split);

/// The least loss of a compute: P = G (C/6)^(beta / (alpha + beta)), D = (C/6) / P with
/// G = (alpha A / (beta B))^(1 / (alpha + beta)) (Hoffmann et al. 2022, equation 4).
Allocation optimum(const LossSurface& surface, double compute);

/// The parameters for which D tokens are the optimum: P = G (G D)^(beta / alpha), the same solved for P.
double optimal_params(const LossSurface& surface, double tokens);

/// Forward pass of one parameter on one token (Kaplan et al. 2020, arXiv:2001.08361, section 2.1).
inline constexpr double inference_flops = 2.0;

/// FLOPs of training, plus those of serving at `weight` training FLOPs each.
inline double lifetime_flops(const Allocation& split, double served_tokens, double weight) {
  return split.compute() + weight * inference_flops * split.params * served_tokens;
}

/// Minimises 6 P D + weight 2 P T over P with D(P) tokens for the wanted loss (Sardana et al. 2023, arXiv:2401.00448,
/// first in FLOPs, then in money, where a FLOP of serving costs MFU of training over MFU of serving).
/// \param tokens_for  P to the tokens with which P reaches the loss; empty where it cannot
/// \param largest     the parameters that are best when nothing is served, beyond which no optimum is
template <class Function>
Allocation serving_optimum(Function tokens_for, double largest, double served_tokens, double weight) {
  const auto cost = [&](double params) {
    const std::optional<double> tokens = tokens_for(params);
    constexpr double never = std::numeric_limits<double>::infinity();
    return tokens ? lifetime_flops({params, *tokens}, served_tokens, weight) : never;
  };
  const double params = lowest(cost, search_min, largest);
  return {params, tokens_for(params).value_or(std::numeric_limits<double>::infinity())};
}

}  // namespace llmcalc::laws
