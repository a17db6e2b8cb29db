#include "layers/attention.hpp"
#include "llmcalc/layers/widths.hpp"

namespace llmcalc::layers {

namespace {

Value state(BlockBuilder& b, std::string_view name, std::int64_t columns, std::int64_t width) {
  const Value x = b.value(name, b.context().batch, columns, width, false);
  b.block().tensors[x.id].kept = Kept::by_sample;
  return x;
}

/// Generation keeps one matrix a head in fp32 and the last inputs of the convolution instead of keys and values
/// (transformers modeling_qwen3_next.py, Qwen3NextDynamicCache).
void keep_state(BlockBuilder& b, const spec::LinearAttentionShape& n, std::int64_t conv_width) {
  if (b.context().training.method != spec::Method::inference) return;
  const std::int64_t heads = n.value_heads * n.key_dim * n.value_dim;
  const Value matrix = state(b, recurrent_state, heads, fp32_width);
  const Value inputs = state(b, convolution_state, (n.conv_kernel - 1) * conv_width, b.context().width);
  Op& op =
      b.append({.kind = OpKind::recurrence, .name = "state", .inputs = {matrix.id, inputs.id}, .outputs = {matrix.id}});
  op.saved = {matrix.id, inputs.id};
}

}  // namespace

/// Projections of q, k, v and the output gate z, and of beta and the decay; a causal depthwise convolution over q, k,
/// v; the delta rule per head; a gated norm; the output projection (transformers modeling_qwen3_next.py,
/// Qwen3NextGatedDeltaNet). Forward work of the recurrence: 4*H_v*d_k*d_v multiply-adds a token and of the convolution
/// kernel*(2*q+v) (Megatron-LM megatron/training/training.py, num_floating_point_operations).
Value gated_delta_net(BlockBuilder& b, const spec::GatedDeltaNet& net, const Value& x) {
  const auto& n = net.heads;
  const std::int64_t key_width = n.key_heads * n.key_dim;
  const std::int64_t value_width = n.value_heads * n.value_dim;
  const std::int64_t conv_width = 2 * key_width + value_width;
  const auto rows = static_cast<double>(x.rows);

  const Value qkvz = b.linear(x, {"qkvz projection", x.columns, conv_width + value_width});
  b.linear(x, {"beta and decay projection", x.columns, 2 * n.value_heads});

  const Value conv = b.value("convolved qkv", x.rows, conv_width, qkvz.width, qkvz.needs_gradient);
  Op convolve{.kind = OpKind::convolution,
              .name = "causal convolution",
              .inputs = {qkvz.id},
              .outputs = {conv.id},
              .saved = {qkvz.id}};
  convolve.weight = b.vector("convolution", conv_width * n.conv_kernel);
  convolve.forward = quantity::flops(2.0 * rows * static_cast<double>(conv_width * n.conv_kernel));
  convolve.backward_input = convolve.backward_weight = convolve.forward;
  b.append(convolve);

  const Value mixed = b.value("delta rule output", x.rows, value_width, conv.width, conv.needs_gradient);
  Op rule{.kind = OpKind::recurrence,
          .name = "gated delta rule",
          .inputs = {conv.id},
          .outputs = {mixed.id},
          .saved = {conv.id, mixed.id}};
  rule.forward = quantity::flops(2.0 * rows * 4.0 * static_cast<double>(n.value_heads * n.key_dim * n.value_dim));
  rule.backward_input = rule.forward * 2.0;
  b.append(rule);
  keep_state(b, n, conv_width);
  b.vector("decay and time-step bias", 2 * n.value_heads);

  const Value gated = b.value("gated norm", x.rows, value_width, mixed.width, mixed.needs_gradient);
  Op gate{.kind = OpKind::norm,
          .name = "gated norm",
          .inputs = {mixed.id, qkvz.id},
          .outputs = {gated.id},
          .saved = {mixed.id, qkvz.id}};
  gate.weight = b.vector("norm", n.value_dim);
  b.append(gate);
  return b.linear(gated, {"output projection", value_width, x.columns});
}

}  // namespace llmcalc::layers
