#include "laws/inner/loss_surface.hpp"

#include <cmath>

namespace llmcalc::laws {

namespace {

double balance(const LossSurface& s) { return std::pow(s.alpha * s.a / (s.beta * s.b), 1.0 / (s.alpha + s.beta)); }

}  // namespace

double reducible_loss(const LossSurface& surface, const Allocation& split) {
  return surface.a / std::pow(split.params, surface.alpha) + surface.b / std::pow(split.tokens, surface.beta);
}

Allocation optimum(const LossSurface& surface, double compute) {
  const double product = compute / training_flops;
  const double params = balance(surface) * std::pow(product, surface.beta / (surface.alpha + surface.beta));
  return {params, product / params};
}

double optimal_params(const LossSurface& surface, double tokens) {
  const double g = balance(surface);
  return g * std::pow(g * tokens, surface.beta / surface.alpha);
}

}  // namespace llmcalc::laws
