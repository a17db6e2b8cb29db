#include "layers/inner/attention_projections.hpp"

#include "layers/inner/feed_forward.hpp"

namespace llmcalc::layers {

namespace {

/// What an earlier layer made, and keeps: nothing of it is this layer's.
Value borrowed(BlockBuilder& b, const Value& memory, std::int64_t columns, std::string_view name) {
  return b.value(name, memory.rows, columns / b.context().tp, 0, memory.needs_gradient);
}

/// Queries from the hidden state, or from a normed bottleneck.
Value queries(BlockBuilder& b, const spec::GroupedAttention& a, const Value& x, std::int64_t width) {
  if (a.query_rank == 0) return b.linear(x, {Role::query, x.columns, width, a.qkv_bias, Cut::columns});
  const Value low = b.norm(b.linear(x, {Role::query_down, x.columns, a.query_rank, a.qkv_bias}), "q latent norm");
  return b.linear(low, {Role::query_up, a.query_rank, width, false, Cut::columns});
}

/// What a layer adds for itself to what a matrix makes that it shares with others (transformers modeling_zamba2.py,
/// Zamba2Attention.forward, linear_q_adapter_list).
Value with_own_term(BlockBuilder& b, const spec::GroupedAttention& a, const Value& x, const Value& y) {
  return a.low_rank == 0 ? y
                         : b.add(y, own_term(b, Role::attention_low_rank, x, a.low_rank, y.columns * b.context().tp),
                                 "with own term");
}

/// torch.clamp keeps what it reads (transformers modeling_dbrx.py, DbrxAttention.forward, clip_qkv).
Value clamped(BlockBuilder& b, const Value& qkv) {
  if (!b.context().profile.kernels.transformers_modules || !b.context().shape().writing.clamps_qkv) return qkv;
  return b.saved_input(qkv, "clamped q, k and v");
}

/// True if queries, keys and values are three equal parts of one product, each as it stands there.
bool is_plain(const spec::GroupedAttention& a) {
  const bool own = !a.borrows_keys && !a.keys_are_values && a.value_dim == a.head_dim;
  return own && a.query_rank == 0 && !a.output_gate && a.low_rank == 0;
}

}  // namespace

bool fuses_projections(const Context& c, const spec::GroupedAttention& a) {
  const bool written = c.writes(&spec::Writing::fused_qkv);
  const bool separate_norms = a.qk_norm != spec::QkNorm::none && !c.shape().writing.fused_qkv;
  return is_plain(a) && !separate_norms && (c.profile.attention.fused_projections || written);
}

Heads fused_projection(BlockBuilder& b, const spec::GroupedAttention& a, const Value& x) {
  const std::int64_t query_width = a.query_width();
  const std::int64_t tp = b.context().tp;
  const Value qkv = clamped(
      b, b.linear(x, {Role::fused_heads, x.columns, query_width + 2 * a.key_width(), a.qkv_bias, Cut::columns}));
  return {columns_of(qkv, query_width / tp), columns_of(qkv, a.key_width() / tp), columns_of(qkv, a.key_width() / tp)};
}

Heads separate_projections(BlockBuilder& b, const spec::GroupedAttention& a, const Value& x, const Value& memory) {
  const bool carries_gate = a.output_gate && !b.context().shape().writing.gate_apart;
  const std::int64_t query_width = carries_gate ? 2 * a.query_width() : a.query_width();
  const Value q = with_own_term(b, a, x, queries(b, a, x, query_width));
  if (a.borrows_keys) {
    return {q, borrowed(b, memory, a.key_width(), "keys of an earlier layer"),
            borrowed(b, memory, a.value_width(), "values of an earlier layer")};
  }
  const Matrix to_keys{Role::key, memory.columns, a.key_width(), a.qkv_bias, Cut::columns};
  const Value k = with_own_term(b, a, memory, b.linear(memory, to_keys));
  if (a.keys_are_values) return {q, k, columns_of(k, a.value_width() / b.context().tp)};
  const Matrix to_values{Role::value, memory.columns, a.value_width(), a.qkv_bias, Cut::columns};
  return {q, k, with_own_term(b, a, memory, b.linear(memory, to_values))};
}

Value outputs(BlockBuilder& b, const spec::GroupedAttention& a, const Value& mixed) {
  const std::int64_t width = a.heads * a.value_dim;
  const std::int64_t hidden = b.context().shape().hidden;
  if (a.output_rank == 0) return b.linear(mixed, {Role::attention_out, width, hidden, a.out_bias, Cut::rows});
  Value by_group = mixed;
  by_group.rows *= a.output_groups;
  by_group.columns /= a.output_groups;
  Value low = b.linear(by_group, {Role::attention_out_down, width / a.output_groups, a.output_rank, false});
  b.rest_of(Role::attention_out_down, a.output_groups - 1, width / a.output_groups, a.output_rank);
  low.rows = mixed.rows;
  low.columns *= a.output_groups;
  return b.linear(low, {Role::attention_out, low.columns, hidden, a.out_bias});
}

}  // namespace llmcalc::layers
