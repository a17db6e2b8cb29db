// Linear attention by a gated delta rule: Qwen3-Next's, and Kimi's with a decay a channel.
#include "layers/inner/delta_rule.hpp"
#include "layers/inner/recurrence.hpp"

namespace llmcalc::layers {

namespace {

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
  return {qkv, beta, decay, through(b, x, Role::delta_gate, n.gate_rank, w.values)};
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
