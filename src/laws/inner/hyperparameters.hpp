// Batch size and learning rate as laws of the compute.
#pragma once

#include "laws/scaling_law.hpp"

namespace llmcalc::laws {

/// Tokens of the batch that balances steps against data: 2.1e8 / L^(1/0.21) with the loss L of the compute-efficient
/// model (Kaplan et al. 2020, arXiv:2001.08361, equations 1.4 and 1.3).
double critical_batch(double compute);

/// What a batch costs against the least data and the least steps: with x = batch / critical batch, 1 + x times the
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

}  // namespace llmcalc::laws
