// The loss as a sum of what the model and what the data leave undone: L(P, D) = E + A / P^alpha + B / D^beta
// (Hoffmann et al. 2022, arXiv:2203.15556, equation 10).
#pragma once

#include "laws/scaling_law.hpp"

namespace llmcalc::laws {

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

}  // namespace llmcalc::laws
