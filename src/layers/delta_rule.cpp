#include "layers/inner/delta_rule.hpp"

#include "layers/widths.hpp"

namespace llmcalc::layers {

using spec::LinearAttentionShape;

namespace {

constexpr std::int64_t chunk = 64;  ///< columns of a chunk's matrix (ChunkGatedDeltaRuleFunction, chunk_size)

/// -exp(A) softplus(decay + bias) in fp32: of a decay a head softplus keeps its input and the product, if A is trained,
/// its result (transformers modeling_qwen3_next.py, Qwen3NextGatedDeltaNet.forward).
void decays_of_heads(BlockBuilder& b, const Value& decay) {
  b.keep_for_backward("softplus input and result", decay.rows, (b.context().trains_base ? 2 : 1) * decay.columns,
                      fp32_width);
}

/// The same with a decay a channel, one operation after the other: the exponential, what the logarithm reads, which of
/// them are large, and for a trained A the choice (modeling_kimi_linear.py, KimiLinearForgetGate.forward).
void decays_of_channels(BlockBuilder& b, const Value& decay) {
  b.keep_for_backward("exponential, sum and choice", decay.rows, (b.context().trains_base ? 3 : 2) * decay.columns,
                      fp32_width);
  b.keep_for_backward("mask of large decays", decay.rows, decay.columns, 1);
}

/// What ChunkGatedDeltaRuleFunction and ChunkKDAFunction save beside beta.
void kept_by_kernel(BlockBuilder& b, const LinearAttentionShape& n, std::int64_t rows, const Value& decay) {
  const std::int64_t tp = b.context().tp;
  const std::int64_t key_heads = n.key_heads / tp;
  const std::int64_t value_heads = n.value_heads / tp;
  const std::int64_t width = b.context().width;
  const std::int64_t twice = n.channel_decay ? 2 : 1;
  b.keep_for_backward("q and k normalised", rows, 2 * key_heads * n.key_dim, width);
  b.keep_for_backward("v", rows, value_heads * n.value_dim, width);
  b.keep_for_backward("norms of q and k", rows, 2 * key_heads, fp32_width);
  b.keep_for_backward("decays", rows, twice * decay.columns, fp32_width);
  b.keep_for_backward("matrices of chunks", rows, twice * value_heads * chunk, width);
}

}  // namespace

Value delta_rule(BlockBuilder& b, const LinearAttentionShape& n, const Value& conv, const DeltaInputs& in) {
  const std::int64_t tp = b.context().tp;
  const std::int64_t value_heads = n.value_heads / tp;
  if (n.channel_decay) {
    decays_of_channels(b, in.decay);
  } else {
    decays_of_heads(b, in.decay);
  }
  const Value beta = b.context().differentiates ? b.saved_result(in.beta, "sigmoid of beta") : in.beta;
  kept_by_kernel(b, n, conv.rows, in.decay);
  const Value mixed =
      b.value("delta rule output", conv.rows, value_heads * n.value_dim, conv.width, conv.needs_gradient);
  Op rule{.kind = OpKind::recurrence,
          .name = "gated delta rule",
          .inputs = {conv.id},
          .outputs = {mixed.id},
          .saved = {beta.id}};
  const double work = 2.0 * 4.0 * static_cast<double>(conv.rows);
  rule.forward = quantity::flops(work * static_cast<double>(value_heads * n.key_dim * n.value_dim));
  rule.backward_input = rule.forward * 2.0;
  b.append(rule);
  return mixed;
}

namespace {

/// One kernel, as servers and Megatron-LM have it.
Value in_one_kernel(BlockBuilder& b, const LinearAttentionShape& n, const Value& mixed, const Value& gate) {
  const Value gated = b.like(mixed, "gated norm");
  Op norm{.kind = OpKind::norm,
          .name = "gated norm",
          .inputs = {mixed.id, gate.id},
          .outputs = {gated.id},
          .saved = {mixed.id, gate.id}};
  norm.weight = b.vector("norm", n.value_dim);
  b.append(norm);
  return gated;
}

/// The gate goes up to fp32, through SiLU, which keeps it so, and so does the product its result.
Value silu_of(BlockBuilder& b, const Value& wide) {
  const Value y = b.like(wide, "SiLU of the gate");
  b.append({.kind = OpKind::activation, .name = "gate", .inputs = {wide.id}, .outputs = {y.id}, .saved = {wide.id}});
  return y;
}

}  // namespace

/// Operation by operation (transformers modeling_qwen3_next.py, Qwen3NextRMSNormGated.forward; modeling_kimi_linear.py,
/// KimiLinearRMSNormGated.forward, which stays in fp32 and takes the sigmoid).
Value delta_rule_norm(BlockBuilder& b, const LinearAttentionShape& n, const Value& mixed, const Value& gate) {
  if (!b.context().profile.kernels.transformers_modules) return in_one_kernel(b, n, mixed, gate);
  Value heads = mixed;
  heads.columns = n.value_dim;
  heads.rows = quantity::product(mixed.rows, mixed.columns / n.value_dim);
  const Value wide = b.cast(gate, fp32_width, "output gate (fp32)");
  const Value normed = n.channel_decay ? b.weighted_wide(heads, "norm") : b.weighted_narrow(heads, "norm");
  const Value factor = n.channel_decay ? b.saved_result(wide, "sigmoid of the gate") : silu_of(b, wide);
  Value gated = b.cast(b.multiply(normed, factor, "gated norm"), mixed.width, "gated norm (16 bit)");
  gated.columns = mixed.columns;
  gated.rows = mixed.rows;
  return gated;
}

}  // namespace llmcalc::layers
