// Linear attention by a gated delta rule: Qwen3-Next's, and Kimi's with a decay a channel.
#include "layers/inner/attention.hpp"
#include "layers/inner/recurrence.hpp"
#include "layers/widths.hpp"

namespace llmcalc::layers {

using spec::LinearAttentionShape;

namespace {

// A gated delta rule between its projections: what goes in, the rule, the gated norm behind it.

/// Widths over all ranks.
struct DeltaWidths {
  std::int64_t keys = 0;
  std::int64_t values = 0;
  std::int64_t convolved = 0;
};

/// Outputs of the projections, on this rank.
struct DeltaInputs {
  Value qkv;
  Value beta;
  Value decay;
  Value gate;
};

constexpr std::int64_t chunk = 64;  ///< columns of a chunk's matrix (ChunkGatedDeltaRuleFunction, chunk_size)

/// -exp(A) softplus(decay + bias) in fp32: of a decay a head softplus keeps its input and the product, if A is trained,
/// its result (transformers modeling_qwen3_next.py, Qwen3NextGatedDeltaNet.forward).
void decays_of_heads(BlockBuilder& b, const Value& decay) {
  b.keep_for_backward("softplus input and result", decay.rows, (b.context().trains_base ? 2 : 1) * decay.columns,
                      fp32_width);
}

/// Decays with one for each channel, one operation after the other: the exponential, what the logarithm reads, which of
/// them are large, and for a trained A the choice (modeling_kimi_linear.py, KimiLinearForgetGate.forward).
void decays_of_channels(BlockBuilder& b, const Value& decay) {
  b.keep_for_backward("exponential, sum and choice", decay.rows, (b.context().trains_base ? 3 : 2) * decay.columns,
                      fp32_width);
  b.keep_for_backward("mask of large decays", decay.rows, decay.columns, 1);
}

/// Tensors that ChunkGatedDeltaRuleFunction and ChunkKDAFunction save beside beta.
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

/// Forward work of the recurrence: 4*H_v*d_k*d_v multiply-adds a token (Megatron-LM megatron/training/training.py,
/// num_floating_point_operations). The kernel keeps q and k normalised, with one over their norms, a copy of v, the
/// sums of the decays, beta, and for each chunk and head a matrix (flash-linear-attention 0.6.0 ops/gated_delta_rule/
/// chunk.py, ChunkGatedDeltaRuleFunction); with a decay a channel a second one, and the decays (ops/kda/chunk.py,
/// ChunkKDAFunction).
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

/// RMSNorm of each head's result, times a function of the gate.
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

/// A projection of `columns`, whole or through a bottleneck.
Value through(BlockBuilder& b, const Value& x, Role role, std::int64_t rank, std::int64_t columns) {
  const Value in = rank == 0 ? x : b.linear(x, {role, x.columns, rank});
  return b.linear(in, {role, in.columns, columns, false, Cut::columns});
}

/// transformers modeling_qwen3_next.py, Qwen3NextGatedDeltaNet.fix_query_key_value_ordering: parts lie head by head.
DeltaInputs joined(BlockBuilder& b, const spec::LinearAttentionShape& n, const Value& x, const DeltaWidths& w) {
  const std::int64_t tp = b.context().tp;
  const Value qkvz = b.linear(x, {Role::delta_fused, x.columns, w.convolved + w.values, false, Cut::columns});
  const Value both = b.linear(x, {Role::delta_beta_decay, x.columns, 2 * n.value_heads, false, Cut::columns});
  return {copied(b, qkvz, "q, k and v", w.convolved / tp), copied(b, both, "beta", n.value_heads / tp),
          copied(b, both, "decay", n.value_heads / tp), copied(b, qkvz, "output gate", w.values / tp)};
}

/// modeling_qwen3_5.py, Qwen3_5GatedDeltaNet.
DeltaInputs in_parts(BlockBuilder& b, const spec::LinearAttentionShape& n, const Value& x, const DeltaWidths& w) {
  const auto apart = [&](Role role, std::int64_t columns) {
    return b.linear(x, {role, x.columns, columns, false, Cut::columns});
  };
  const Value qkv = apart(Role::delta_heads, w.convolved);
  const Value gate = apart(Role::delta_gate, w.values);
  const Value beta = apart(Role::delta_beta, n.value_heads);
  return {qkv, beta, apart(Role::delta_decay, n.value_heads), gate};
}

/// Three matrices, whose results are joined before the convolution.
Value three(BlockBuilder& b, const Value& x, const DeltaWidths& w) {
  const Value q = b.linear(x, {Role::query, x.columns, w.keys, false, Cut::columns});
  b.linear(x, {Role::key, x.columns, w.keys, false, Cut::columns});
  b.linear(x, {Role::value, x.columns, w.values, false, Cut::columns});
  return copied(b, q, "q, k and v", w.convolved / b.context().tp);
}

/// The others each for itself (modeling_kimi_linear.py, KimiLinearDeltaAttention; modeling_olmo_hybrid.py,
/// OlmoHybridGatedDeltaNet).
DeltaInputs apart(BlockBuilder& b, const spec::LinearAttentionShape& n, const Value& x, const DeltaWidths& w,
                  const Value& qkv) {
  const std::int64_t decays = n.channel_decay ? n.value_heads * n.key_dim : n.value_heads;
  const Value beta = b.linear(x, {Role::delta_beta, x.columns, n.value_heads, false, Cut::columns});
  const Value decay = through(b, x, Role::delta_decay, n.gate_rank, decays);
  const std::int64_t gate_rank = b.context().shape().output_gate ? 0 : n.gate_rank;  // Kimi K3, use_full_rank_gate
  return {qkv, beta, decay, through(b, x, Role::delta_gate, gate_rank, w.values)};
}

/// Servers and Megatron-LM join what transformers' class has apart, but for decays that come through a bottleneck
/// (vLLM model_executor/models/qwen3_next.py, in_proj_qkvz; kimi_linear.py).
DeltaInputs inputs(BlockBuilder& b, const spec::LinearAttentionShape& n, const Value& x, const DeltaWidths& w) {
  using spec::DeltaProjections;
  const Context& c = b.context();
  const auto written =
      c.profile.kernels.transformers_modules ? c.shape().writing.projections : DeltaProjections::joined;
  if (written == DeltaProjections::parts) return in_parts(b, n, x, w);
  if (written == DeltaProjections::apart) return apart(b, n, x, w, three(b, x, w));
  if (!n.channel_decay) return joined(b, n, x, w);
  return apart(b, n, x, w, b.linear(x, {Role::delta_fused, x.columns, w.convolved, false, Cut::columns}));
}

}  // namespace

/// Projections of q, k, v and the output gate z, and of beta and the decay; a causal depthwise convolution over q, k,
/// v; the delta rule per head; a gated norm; the output projection (transformers modeling_qwen3_next.py,
/// Qwen3NextGatedDeltaNet). Tensor-parallel ranks have whole heads of all (vLLM model_executor/layers/mamba/gdn;
/// Megatron-LM core/ssm/gated_delta_net.py).
Value gated_delta_net(BlockBuilder& b, const spec::GatedDeltaNet& net, const Value& x) {
  const auto& n = net.heads;
  const std::int64_t tp = b.context().tp;
  const std::int64_t keys = n.key_heads * n.key_dim;
  const std::int64_t values = n.value_heads * n.value_dim;
  const DeltaWidths widths{keys, values, 2 * keys + values};
  const DeltaInputs in = inputs(b, n, x, widths);
  const Value conv = convolved(b, {widths.convolved, n.conv_kernel}, in.qkv);
  const Value mixed = delta_rule(b, n, conv, in);
  keep_state(b, {n.value_heads / tp * n.key_dim * n.value_dim, (n.conv_kernel - 1) * conv.columns});
  b.vector("decay and time-step bias", n.value_heads * (n.channel_decay ? 1 + n.key_dim : 2), Cut::columns);
  const Role out = n.channel_decay ? Role::attention_out : Role::delta_out;  // o_proj of Kimi Delta Attention
  return b.linear(delta_rule_norm(b, n, mixed, in.gate), {out, values, x.columns, false, Cut::rows});
}

}  // namespace llmcalc::layers
