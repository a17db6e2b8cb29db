#include "layers/inner/builder.hpp"
#include "layers/inner/parts.hpp"
#include "layers/widths.hpp"

namespace llmcalc::layers {

namespace {

Matrix inward(const MlpMatrices& mlp, Role role, std::int64_t hidden, std::int64_t width) {
  return {role, hidden, width, mlp.bias, Cut::columns, mlp.experts, mlp.active_experts};
}

/// Input of the nonlinearity: one matrix, or gate and up projection, in one matrix or two.
struct Projected {
  Value gate;
  Value up;
};

/// Gate and up projection are one matrix in the framework's own model, or in the family's as transformers writes it.
/// Since its release 5 one parameter holds
/// gate and up projections of all experts (integrations/moe.py, grouped_mm_experts_forward), but for classes that loop
/// over them (modeling_dbrx.py, DbrxExpertGLU); of other experts, which are one matrix or two, only adapters tell.
bool fuses_gate_and_up(const BlockBuilder& b, const MlpMatrices& mlp, const Matrix& fused) {
  const Context& c = b.context();
  if (c.profile.mlp.fused_gate_and_up) return true;
  if (mlp.experts == 1) return c.writes(&spec::Writing::fused_gate_and_up);
  const bool is_parameter = c.profile.experts.one_parameter && !c.writes(&spec::Writing::loops_over_experts);
  return is_parameter || b.merges_adapter(fused);
}

/// Gate's elements that lie so many deviations above the mean of their row, and zeros: the deviation keeps its input
/// and itself, the ReLU its result (transformers modeling_gemma3n.py, Gemma3nTextMLP._gaussian_topk).
Value sparse(BlockBuilder& b, const Value& gate) {
  const Value deviation = b.value("deviation of the gate", gate.rows, 1, gate.width, gate.needs_gradient);
  b.append({.kind = OpKind::norm,
            .name = "deviation of the gate",
            .inputs = {gate.id},
            .outputs = {deviation.id},
            .saved = {gate.id, deviation.id}});
  return b.saved_result(gate, "sparse gate");
}

/// One half of what gate and up projection made in one matrix.
Value half_of(Value both) {
  both.columns /= 2;
  return both;
}

/// A layer's own term beside matrices that it shares (transformers modeling_zamba2.py, Zamba2MLP.forward).
Projected with_own_term(BlockBuilder& b, const MlpMatrices& mlp, const Value& x, const Projected& shared) {
  if (mlp.low_rank == 0) return shared;
  const Value own = own_term(b, Role::mlp_low_rank, x, mlp.low_rank, 2 * mlp.width);
  if (shared.gate.id == shared.up.id) {
    const Value both = b.add(shared.gate, own, "with own term");
    return {both, both};
  }
  const Value half = half_of(own);
  return {b.add(shared.gate, half, "gate with own term"), b.add(shared.up, half, "up with own term")};
}

Projected project(BlockBuilder& b, const MlpMatrices& mlp, const Value& x) {
  if (!spec::is_gated(b.context().shape().mlp)) {
    const Value up = b.linear(x, inward(mlp, Role::up, x.columns, mlp.width));
    return {up, up};
  }
  const Matrix fused = inward(mlp, Role::gate_up, x.columns, 2 * mlp.width);
  if (fuses_gate_and_up(b, mlp, fused)) {
    const Value both = b.linear(x, fused);
    return with_own_term(b, mlp, x, {both, both});
  }
  const Value made = b.linear(x, inward(mlp, Role::gate, x.columns, mlp.width));
  const Value gate = mlp.sparse_gate ? sparse(b, made) : made;
  return with_own_term(b, mlp, x, {gate, b.linear(x, inward(mlp, Role::up, x.columns, mlp.width))});
}

/// Grouped kernels clamp within the product.
bool clamps_apart(const Context& c) {
  return c.profile.mlp.clamps_apart && c.shape().writing.clamped_gate && !c.profile.experts.one_product;
}

Value activated_halves(BlockBuilder& b, const Value& both) {
  const std::int64_t width = both.columns / 2;
  const Value x = clamps_apart(b.context()) ? b.clamped_halves(both) : both;
  return b.context().profile.mlp.fused_glu ? b.gated_fused(x, width) : b.gated_halves(x, width);
}

Value activated(BlockBuilder& b, const Projected& x) {
  if (!spec::is_gated(b.context().shape().mlp)) return b.activation(x.up, "activated");
  const bool in_one = x.gate.id == x.up.id;
  if (b.context().writes(&spec::Writing::clamped_gate)) {
    return in_one ? b.gated_clamped(half_of(x.gate), half_of(x.up)) : b.gated_clamped(x.gate, x.up);
  }
  if (in_one) return activated_halves(b, x.gate);
  return b.context().profile.mlp.fused_glu ? b.gated_pair(x.gate, x.up) : b.gated(x.gate, x.up);
}

/// peft rescales what the down projection reads, in the type of the learned vector.
Value activate(BlockBuilder& b, const MlpMatrices& mlp, const Projected& x) {
  const Value inner = activated(b, x);
  if (b.context().training.method != spec::Method::ia3) return inner;
  const std::int64_t experts = mlp.experts == 1 ? 1 : mlp.experts / b.context().ep;
  return b.cast(rescaled(b, b.adapter_input(inner), "rescaled activation", experts), inner.width, "rescaled");
}

/// A token's weight multiplies its activation in fp32, and the activation is kept for the weight's gradient; gated
/// activations do both in one kernel (Megatron-LM core/transformer/moe/experts.py and core/transformer/mlp.py,
/// per_token_scale; core/fusions/fused_bias_swiglu.py, weighted_bias_swiglu_impl).
Value weighted(BlockBuilder& b, const Value& x) {
  if (!b.context().profile.experts.weighs_activations || spec::is_gated(b.context().shape().mlp)) return x;
  const Value y = b.like(x, "weighted activation");
  const auto wide = quantity::bytes(quantity::product(x.rows, x.columns, fp32_width));
  b.append({.kind = OpKind::elementwise,
            .name = "weigh",
            .inputs = {x.id},
            .outputs = {y.id},
            .saved = {x.id},
            .workspace_forward = wide,
            .workspace_backward = wide});
  return y;
}

/// One autograd function runs the adapted MLP. It keeps its input, gate and up, and makes what the down projection
/// reads again, over the gradient of it (unsloth kernels/fast_lora.py, LoRA_MLP; swiglu.py, swiglu_DWf_DW_dfg_kernel).
bool is_one_kernel(BlockBuilder& b) {
  const auto& c = b.context();
  return c.profile.adapters.in_place && c.adapter_rank > 0 && spec::is_gated(c.shape().mlp);
}

}  // namespace

Value own_term(BlockBuilder& b, Role role, const Value& x, std::int64_t rank, std::int64_t columns) {
  const Value low = b.linear(x, {role, x.columns, rank});
  return b.linear(low, {role, rank, columns, false, Cut::columns});
}

/// 2*h*f parameters, or 3*h*f where the MLP is gated (Shazeer 2020, arXiv:2002.05202).
Value mlp_products(BlockBuilder& b, const MlpMatrices& mlp, const Value& x) {
  const Projected projected = project(b, mlp, x);
  const Matrix down{Role::down, mlp.width, x.columns, mlp.bias, Cut::rows, mlp.experts, mlp.active_experts};
  if (mlp.experts == 1) {
    Recomputed again(b, is_one_kernel(b));
    const Value inner = b.inner_norm(activate(b, mlp, projected), "inner mlp norm");
    again.discard({inner});
    const Value out = b.linear(inner, down);
    again.remake();
    return out;
  }
  Recomputed again(b, spec::RecomputeModule::moe_act);
  const Value inner = weighted(b, activate(b, mlp, projected));
  again.discard({inner});
  const Value out = b.linear(inner, down);
  again.remake();
  return out;
}

Value feed_forward(BlockBuilder& b, const spec::FeedForward& mlp, const Value& x) {
  if (const auto* moe = std::get_if<spec::MoeMlp>(&mlp)) {
    const Recomputed again(b, spec::RecomputeModule::moe, {x});
    return mixture_of_experts(b, moe->moe, x);
  }
  const Recomputed again(b, spec::RecomputeModule::mlp, {x});
  const auto& dense = std::get<spec::DenseMlp>(mlp);
  return mlp_products(b, {dense.width, dense.bias, 1, 1, dense.low_rank, dense.sparse_gate}, x);
}

}  // namespace llmcalc::layers
