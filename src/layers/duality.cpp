// Mamba-2: one projection, one kernel from its result to that of the layer, or nearly.
#include "layers/inner/recurrence.hpp"
#include "layers/widths.hpp"

namespace llmcalc::layers {

using spec::StateShape;

namespace {

/// Reads the gate out of the projection. Its kernel keeps of itself one over the root of the mean square, for each row
/// and group (mamba_ssm/ops/triton/layernorm_gated.py, _layer_norm_fwd).
Value gated_norm(BlockBuilder& b, const StateShape& s, std::int64_t groups, const Value& x, const Value& gate) {
  const Value normed = b.like(x, "gated norm");
  const Value roots = b.value("norm statistics", x.rows, groups, fp32_width, false);
  Op op{.kind = OpKind::norm,
        .name = "gated norm",
        .inputs = {x.id, gate.id},
        .outputs = {normed.id, roots.id},
        .saved = {x.id, gate.id, roots.id}};
  op.weight = b.vector("norm", s.width, Cut::columns);
  b.append(op);
  return normed;
}

}  // namespace

/// One projection makes gate, input, B, C and time steps; the scan is products of chunks (Dao & Gu 2024,
/// arXiv:2405.21060 section 6; transformers modeling_mamba2.py, Mamba2Mixer). In training one kernel goes from the
/// projection on: it keeps that and the scan's result, makes the convolution again backward, and in transformers has
/// the projection out within it (mamba_ssm 2.3.2 ops/triton/ssd_combined.py, MambaSplitConv1dScanCombinedFn).
Value duality(BlockBuilder& b, const StateShape& s, const Value& x) {
  constexpr double flops_a_state = 6.0;
  const StateShape rank = share_of(s, b.context().tp);
  const std::int64_t conv_width = s.width + 2 * s.groups * s.state;
  const Value all = b.linear(x, {Role::state_in, x.columns, s.width + conv_width + s.heads, s.bias, Cut::columns});
  const std::int64_t rank_width = rank.width + 2 * rank.groups * s.state;
  const Value conv =
      convolved(b, {rank_width * b.context().tp, s.conv_kernel, s.conv_bias}, columns_of(all, rank_width));
  b.vector("time step bias, decays and skip", 3 * s.heads, Cut::columns);
  keep_state(b, {quantity::product(rank.width, s.state), quantity::product(rank_width, s.conv_kernel - 1)});
  Value out = scanned(b, rank, {"state space duality", flops_a_state, conv, {all.id}, {all.id}, true});
  if (s.norm) out = gated_norm(b, s, rank.groups, out, all);
  Matrix last{Role::state_out, s.width, x.columns, s.bias, Cut::rows};
  if (b.context().profile.kernels.transformers_modules) last.multiplier = Multiplier::kernel;
  return b.linear(out, last);
}

}  // namespace llmcalc::layers
