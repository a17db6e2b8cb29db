// The model that is cheapest to train and then to serve.
#pragma once

#include "laws/inner/curves.hpp"
#include "laws/scaling_law.hpp"

#include <limits>
#include <optional>

namespace llmcalc::laws {

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
