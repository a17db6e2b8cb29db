// Curves that runs were fitted on, batch size, learning rate and loss by compute, and how a point on one is found.
#pragma once

#include "laws/scaling_law.hpp"
#include "quantity/elementary.hpp"

#include <limits>
#include <numbers>
#include <numeric>
#include <optional>

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

/// Where a rising function passes from below `target` to at or above it, to the precision of a double.
template <class Function>
double crossing(Function rising, double target, double low = search_min, double high = search_max) {
  constexpr int halvings = 64;  // of log(1e60) = 138: below the spacing of doubles there
  double from = quantity::log(low);
  double to = quantity::log(high);
  for (int i = 0; i < halvings; ++i) {
    const double middle = std::midpoint(from, to);
    (rising(quantity::exp(middle)) < target ? from : to) = middle;
  }
  return quantity::exp(to);
}

/// Where a function with one valley is lowest, by golden sections of the logarithm.
template <class Function>
double lowest(Function valley, double low, double high) {
  constexpr int sections = 90;  // 0.618^90 of log(1e60) is below 1e-16
  const double golden = 1.0 / std::numbers::phi;
  double from = quantity::log(low);
  double to = quantity::log(high);
  for (int i = 0; i < sections; ++i) {
    const double step = golden * (to - from);
    if (valley(quantity::exp(to - step)) < valley(quantity::exp(from + step))) {
      to = from + step;
    } else {
      from = to - step;
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
