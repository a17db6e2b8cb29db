#include "laws/inner/hyperparameters.hpp"

#include <cmath>

namespace llmcalc::laws {

double critical_batch(double compute) {
  const double loss = *optimum_at({ScalingLaw::kaplan}, compute).loss;
  return 2.1e8 / std::pow(loss, 1.0 / 0.21);
}

BatchPrice batch_price(double batch, double critical) { return {1.0 + batch / critical, 1.0 + critical / batch}; }

double deepseek_batch(double compute) { return 0.2920 * std::pow(compute, 0.3271); }

double deepseek_learning_rate(double compute) { return 0.3118 * std::pow(compute, -0.1250); }

}  // namespace llmcalc::laws
