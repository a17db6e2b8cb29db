#include "layers/attention.hpp"

namespace llmcalc::layers {

namespace {

/// A projection of `columns`, whole or through a bottleneck.
Value through(BlockBuilder& b, const Value& x, std::string_view name, std::int64_t rank, std::int64_t columns) {
  const Value in = rank == 0 ? x : b.linear(x, {name, x.columns, rank});
  return b.linear(in, {name, in.columns, columns, false, Cut::columns});
}

/// What a delta rule reads beside q, k and v, and the gate of its results.
struct Gates {
  Value decay;
  Value output;
};

/// A decay a head, and a gate beside q, k and v in their projection (transformers modeling_qwen3_next.py,
/// Qwen3NextGatedDeltaNet); or a decay a channel and a gate that have projections of their own
/// (modeling_kimi_linear.py, KimiLinearDeltaAttention).
Gates gates(BlockBuilder& b, const spec::LinearAttentionShape& n, const Value& x, const Value& qkvz) {
  if (!n.channel_decay) {
    return {b.linear(x, {"beta and decay projection", x.columns, 2 * n.value_heads, false, Cut::columns}), qkvz};
  }
  b.linear(x, {"beta projection", x.columns, n.value_heads, false, Cut::columns});
  return {through(b, x, "decay projection", n.gate_rank, n.value_heads * n.key_dim),
          through(b, x, "output gate projection", n.gate_rank, n.value_heads * n.value_dim)};
}

}  // namespace

/// Projections of q, k, v and the output gate z, and of beta and the decay; a causal depthwise convolution over q, k,
/// v; the delta rule per head; a gated norm; the output projection (transformers modeling_qwen3_next.py,
/// Qwen3NextGatedDeltaNet). Forward work of the recurrence: 4*H_v*d_k*d_v multiply-adds a token and of the convolution
/// kernel*(2*q+v) (Megatron-LM megatron/training/training.py, num_floating_point_operations). Tensor-parallel ranks
/// have whole heads of all (vLLM model_executor/layers/mamba/gdn; Megatron-LM core/ssm/gated_delta_net.py).
Value gated_delta_net(BlockBuilder& b, const spec::GatedDeltaNet& net, const Value& x) {
  const auto& n = net.heads;
  const std::int64_t tp = b.context().tp;
  const std::int64_t all_keys = n.key_heads * n.key_dim;
  const std::int64_t all_values = n.value_heads * n.value_dim;
  const std::int64_t all_convolved = 2 * all_keys + all_values;
  const std::int64_t value_heads = n.value_heads / tp;
  const std::int64_t value_width = all_values / tp;
  const std::int64_t conv_width = all_convolved / tp;

  const std::int64_t projected = all_convolved + (n.channel_decay ? 0 : all_values);
  const Value qkvz = b.linear(x, {"qkvz projection", x.columns, projected, false, Cut::columns});
  const Gates gate = gates(b, n, x, qkvz);
  const auto rows = static_cast<double>(qkvz.rows);

  const Value conv = b.value("convolved qkv", qkvz.rows, conv_width, qkvz.width, qkvz.needs_gradient);
  Op convolve{.kind = OpKind::convolution,
              .name = "causal convolution",
              .inputs = {qkvz.id},
              .outputs = {conv.id},
              .saved = {qkvz.id}};
  convolve.weight = b.vector("convolution", all_convolved * n.conv_kernel, Cut::columns);
  convolve.forward = quantity::flops(2.0 * rows * static_cast<double>(conv_width * n.conv_kernel));
  convolve.backward_input = convolve.backward_weight = convolve.forward;
  b.append(convolve);

  const Value mixed = b.value("delta rule output", conv.rows, value_width, conv.width, conv.needs_gradient);
  Op rule{.kind = OpKind::recurrence,
          .name = "gated delta rule",
          .inputs = {conv.id},
          .outputs = {mixed.id},
          .saved = {conv.id, mixed.id}};
  if (n.channel_decay) rule.saved.push_back(gate.decay.id);
  rule.forward = quantity::flops(2.0 * rows * 4.0 * static_cast<double>(value_heads * n.key_dim * n.value_dim));
  rule.backward_input = rule.forward * 2.0;
  b.append(rule);
  keep_state(b, {value_heads * n.key_dim * n.value_dim, (n.conv_kernel - 1) * conv_width});
  b.vector("decay and time-step bias", n.value_heads * (n.channel_decay ? 1 + n.key_dim : 2), Cut::columns);

  const Value gated = b.value("gated norm", mixed.rows, value_width, mixed.width, mixed.needs_gradient);
  Op norm{.kind = OpKind::norm,
          .name = "gated norm",
          .inputs = {mixed.id, gate.output.id},
          .outputs = {gated.id},
          .saved = {mixed.id, gate.output.id}};
  norm.weight = b.vector("norm", n.value_dim);
  b.append(norm);
  return b.linear(gated, {"output projection", all_values, x.columns, false, Cut::rows});
}

}  // namespace llmcalc::layers
