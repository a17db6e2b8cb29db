#include "program/feed_forward.hpp"

namespace llmcalc::program {

namespace {

Matrix inward(const MlpMatrices& mlp, std::string_view name, std::int64_t hidden, std::int64_t width) {
  return {name, hidden, width, mlp.bias, Cut::columns, mlp.experts, mlp.active_experts};
}

Value gated_product(BlockBuilder& b, const MlpMatrices& mlp, const Value& x) {
  const auto& profile = b.context().profile;
  if (profile.fused_gate_and_up) {
    const Value both = b.linear(x, inward(mlp, "gate and up projection", x.columns, 2 * mlp.width));
    return b.gated_fused(both, both.columns / 2);
  }
  const Value gate = b.linear(x, inward(mlp, "gate projection", x.columns, mlp.width));
  const Value up = b.linear(x, inward(mlp, "up projection", x.columns, mlp.width));
  return profile.fused_glu ? b.gated_pair(gate, up) : b.gated(gate, up);
}

}  // namespace

/// 2*h*f parameters, or 3*h*f where the MLP is gated (Shazeer 2020, arXiv:2002.05202).
Value mlp_products(BlockBuilder& b, const MlpMatrices& mlp, const Value& x) {
  const bool gated = spec::is_gated(b.context().shape().mlp);
  const Value inner = gated
                          ? gated_product(b, mlp, x)
                          : b.activation(b.linear(x, inward(mlp, "up projection", x.columns, mlp.width)), "activated");
  return b.linear(inner,
                  {"down projection", mlp.width, x.columns, mlp.bias, Cut::rows, mlp.experts, mlp.active_experts});
}

Value feed_forward(BlockBuilder& b, const spec::FeedForward& mlp, const Value& x) {
  if (const auto* moe = std::get_if<spec::MoeMlp>(&mlp)) return mixture_of_experts(b, moe->moe, x);
  const auto& dense = std::get<spec::DenseMlp>(mlp);
  return mlp_products(b, {dense.width, dense.bias}, x);
}

}  // namespace llmcalc::program
