// Recurrences without a convolution: RWKV and mLSTM.
#include "layers/inner/recurrence.hpp"

namespace llmcalc::layers {

using spec::StateShape;

namespace {

/// A position mixed with the one before it, by a learned share a channel, for whose gradient both are kept
/// (transformers modeling_rwkv.py, RwkvSelfAttention.extract_key_value).
Value mixed(BlockBuilder& b, const Value& x, const Value& before, std::string_view name) {
  const Value y = b.like(x, name);
  Op op{.kind = OpKind::elementwise, .name = name, .inputs = {x.id, before.id}, .outputs = {y.id}};
  if (b.context().trains_base) op.saved = {x.id, before.id};
  op.weight = b.vector("share", x.columns);
  b.append(op);
  return y;
}

Value shifted(BlockBuilder& b, const Value& x) {
  return b.rearrange(x, "positions before", x.rows, x.columns, OpKind::permutation);
}

}  // namespace

/// RWKV-4: keys, values and receptances of shifted inputs; the kernel keeps keys, values and its result, the gate the
/// receptances (Peng et al. 2023, arXiv:2305.13048 section 3.1; transformers modeling_rwkv.py, RwkvLinearAttention).
Value wkv(BlockBuilder& b, const StateShape& s, const Value& x) {
  constexpr double flops_a_channel = 10.0;
  const StateShape rank = share_of(s, b.context().tp);
  const Value before = shifted(b, x);
  const auto projected = [&](std::string_view input, Role role) {
    return b.linear(mixed(b, x, before, input), {role, x.columns, s.width, false, Cut::columns});
  };
  const Value k = projected("key input", Role::key);
  const Value v = projected("value input", Role::value);
  const Value r = projected("receptance input", Role::receptance);
  b.vector("time decay and first", 2 * s.width, Cut::columns);
  const Value out = scanned(b, rank, {"wkv", flops_a_channel, k, {v.id}, {k.id, v.id}, true});
  // Sums of both, their maximum, and the last input of each mix (RwkvModel.forward, state).
  keep_state(b, {3 * rank.width, 2 * x.columns});
  const Value gated = b.multiply(b.saved_result(r, "receptance"), out, "gated");
  return b.linear(gated, {Role::state_out, s.width, x.columns, false, Cut::rows});
}

/// transformers modeling_rwkv.py, RwkvFeedForward.forward.
Value channel_mix(BlockBuilder& b, std::int64_t width, const Value& x) {
  const Value before = shifted(b, x);
  const Value up = b.linear(mixed(b, x, before, "key input"), {Role::up, x.columns, width, false, Cut::columns});
  const Matrix back{Role::down, width, x.columns, false, Cut::rows};
  const Value down = b.linear(b.activation(up, "activated"), back);
  const Value r = b.linear(mixed(b, x, before, "receptance input"), {Role::receptance, x.columns, x.columns});
  return b.multiply(b.saved_result(r, "receptance"), down, "gated");
}

/// mLSTM: a matrix a head that takes up products of keys and values, through an input and a forget gate a head, and a
/// gate of what queries read from it (Beck et al. 2025, arXiv:2503.13427; transformers modeling_xlstm.py,
/// xLSTMLayer). `state` is the width of a head's key.
Value matrix_memory(BlockBuilder& b, const StateShape& s, const Value& x) {
  constexpr double flops_a_state = 6.0;
  const StateShape rank = share_of(s, b.context().tp);
  const std::int64_t key_width = s.heads * s.state;
  const Value q = b.linear(x, {Role::query, x.columns, key_width, s.bias, Cut::columns});
  const Value k = b.linear(x, {Role::key, x.columns, key_width, s.bias, Cut::columns});
  const Value v = b.linear(x, {Role::value, x.columns, s.width, s.bias, Cut::columns});
  const Value gate = b.linear(x, {Role::memory_output_gate, x.columns, s.width, s.bias, Cut::columns});
  b.linear(x, {Role::memory_gates, x.columns, 2 * s.heads, true});
  const Value read = scanned(b, rank, {"matrix memory", flops_a_state, q, {k.id, v.id}, {q.id, k.id, v.id}});
  keep_state(b, {s.state * rank.width + rank.heads * (s.state + 1), 0});
  const Value normed = b.norm(read, "heads norm");
  return b.linear(b.multiply(b.activation(gate, "gate"), normed, "gated"),
                  {Role::state_out, s.width, x.columns, s.bias, Cut::rows});
}

}  // namespace llmcalc::layers
