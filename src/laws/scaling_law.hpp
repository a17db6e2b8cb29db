// Laws of scaling: the loss that P parameters reach on D tokens, and the P and D that are best for a compute C = 6PD.
//
//   optimum_at({ScalingLaw::chinchilla}, 5.76e23)  ->  72B parameters on 1.33T tokens, loss 1.97
//
// Losses are nats per token of the law's own data and tokenizer: they compare runs under one law, not two laws.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string_view>

namespace llmcalc::laws {

/// Training, forward and backward, of one parameter on one token (Kaplan et al. 2020, arXiv:2001.08361, section 2.1).
inline constexpr double training_flops = 6.0;

enum class ScalingLaw { chinchilla, kaplan, llama_3, data_constrained };

/// How a compute of 6PD is split.
struct Allocation {
  double params = 0.0;
  double tokens = 0.0;

  double compute() const { return training_flops * params * tokens; }
};

struct Optimum {
  Allocation split;
  std::optional<double> loss;  ///< empty where the law predicts none
};

struct Interval {
  double min = 0.0;
  double max = std::numeric_limits<double>::infinity();

  bool contains(double value) const { return value >= min && value <= max; }
};

struct LawFacts {
  ScalingLaw law;
  std::string_view name;            ///< as it is asked for
  std::string_view source;          ///< paper and equation
  std::string_view formula;         ///< of the loss; empty where the law predicts none
  std::string_view optimal_params;  ///< formula of the parameters that are best for a compute
  std::string_view optimal_loss;    ///< formula of the loss they reach
  bool surface;                     ///< loss and optimum are one surface, so that runs of equal loss can be compared
  Interval params;                  ///< of the runs that it was fitted on
  Interval tokens = {};
  Interval compute = {};
};

std::span<const LawFacts> scaling_laws();
const LawFacts& facts(ScalingLaw law);

/// A law and the data that there is for it; only data_constrained asks how much of it is unique.
struct LawChoice {
  ScalingLaw law = ScalingLaw::chinchilla;
  double unique_tokens = std::numeric_limits<double>::infinity();
};

/// \pre everywhere below: parameters, tokens, compute and losses are finite and above 0
std::optional<double> loss_of(const LawChoice& choice, const Allocation& split);
Optimum optimum_at(const LawChoice& choice, double compute);

/// The compute whose optimum has these parameters, these tokens or this loss.
double compute_for_params(const LawChoice& choice, double params);
double compute_for_tokens(const LawChoice& choice, double tokens);
std::optional<double> compute_for_loss(const LawChoice& choice, double loss);

/// Tokens that a loss takes; empty where no number of them is enough.
std::optional<double> tokens_for_loss(const LawChoice& choice, double params, double loss);
std::optional<double> params_for_loss(const LawChoice& choice, double tokens, double loss);

/// Worth of repeated data in unique tokens (Muennighoff et al. 2023, arXiv:2305.16264, equation 5):
/// D' = U + U R* (1 - exp(-R / R*)) with R = D / U - 1 repetitions and R* = 15.39.
double effective_tokens(double tokens, double unique_tokens);

}  // namespace llmcalc::laws
