// Recurrences without a convolution: RWKV and mLSTM.
#include "layers/inner/recurrence.hpp"
#include "layers/widths.hpp"

#include <algorithm>

namespace llmcalc::layers {

using quantity::product;
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

// RG-LRU (De et al. 2024, arXiv:2402.19427).

/// Both gates of each head: two products of a copy of what the convolution made, one block a head, and their biases.
struct Gates {
  Value both;
  Value input;
  Value decay;
};

Gates gates_of(BlockBuilder& b, const StateShape& s, const StateShape& rank, const Value& conv) {
  const std::int64_t block = s.width / s.heads;
  Value by_head = b.context().profile.kernels.transformers_modules
                      ? b.rearrange(conv, "by head", conv.rows, conv.columns, OpKind::permutation)
                      : conv;
  by_head.rows = product(conv.rows, rank.heads);
  by_head.columns = block;
  const Value both = b.linear(by_head, {Role::recurrent_gates, block, 2 * block});
  const WeightId others = b.vector("gates of other heads", product(rank.heads - 1, 2 * block, block));
  b.block().weights[others].whole = b.block().weights[others].active = product(s.heads - 1, 2 * block, block);
  b.vector("gate biases and decays", 3 * s.width, Cut::columns);
  Value half = both;
  half.rows = conv.rows;
  half.columns = rank.width;
  return {both, half, half};
}

/// One operation after the other, in a loop over positions at the end: 8 bytes a channel and position are the states
/// and decays of its steps in fp32. The module holds on to the last state of each sample (transformers
/// modeling_recurrent_gemma.py, RecurrentGemmaRglru.forward and _rnn_scan).
Value chained_recurrence(BlockBuilder& b, const Gates& gates, const Value& conv) {
  const Value opened = b.saved_result(gates.input, "input gate");
  const Value closed = b.saved_result(gates.decay, "recurrence gate");
  const Value scaled = b.rearrange(closed, "scaled gate", conv.rows, conv.columns, OpKind::elementwise);
  const Value exponent = b.rearrange(scaled, "log decay", conv.rows, conv.columns, OpKind::elementwise);
  if (b.context().trains_base) b.block().ops.back().saved.push_back(scaled.id);
  const Value decay = b.saved_result(exponent, "decay");
  const Value square = b.saved_result(exponent, "squared decay");
  const Value rest = b.rearrange(square, "1 - squared decay", conv.rows, conv.columns, OpKind::elementwise);
  const Value root = b.rearrange(rest, "multiplier", conv.rows, conv.columns, OpKind::elementwise);
  b.block().ops.back().saved.push_back(rest.id);
  const Value in = b.multiply(b.multiply(conv, opened, "gated input"), root, "normalised input");
  const Value out = b.like(conv, "states");
  const Value steps = b.value("steps in fp32", conv.rows, 2 * conv.columns, fp32_width, false);
  const Value last = b.value("last state", b.context().batch, conv.columns, fp32_width, false);
  b.keep_through_recompute(last);
  b.append({.kind = OpKind::recurrence,
            .name = "loop over positions",
            .inputs = {in.id, decay.id},
            .outputs = {out.id, steps.id, last.id},
            .saved = {steps.id, last.id}});
  return out;
}

// Lightning attention (Qin et al. 2024, arXiv:2401.04658): linear attention with a fixed decay a head, block by block.

/// How the positions of a sample lie in blocks.
struct Blocks {
  std::int64_t size = 0;
  std::int64_t count = 0;
  std::int64_t positions = 0;
  std::int64_t last = 0;  ///< positions of the last block

  std::int64_t pairs() const { return product(count - 1, size, size) + last * last; }
};

Blocks blocks_of(std::int64_t positions, std::int64_t size) {
  const std::int64_t taken = std::min(size, positions);
  const std::int64_t count = quantity::ceil_divide(positions, taken);
  return {taken, count, positions, positions - (count - 1) * taken};
}

/// Queries, keys and values are parts of one tensor that goes through SiLU, which keeps it; products copy each by head.
struct Parts {
  Value q, k, v;
};

Parts parts_of(BlockBuilder& b, const StateShape& s, const StateShape& rank, const Value& x) {
  const Value made = b.linear(x, {Role::lightning_heads, x.columns, 3 * s.width, s.bias, Cut::columns});
  const Value opened = b.saved_input(made, "activated q, k and v");
  return {copied(b, opened, "queries", rank.width), copied(b, opened, "keys", rank.width),
          copied(b, opened, "values", rank.width)};
}

/// A product of `pairs` rows of all heads, `width` apart, for which both factors are kept.
Op product_of(std::string_view name, const Value& first, const Value& second, std::int64_t pairs, std::int64_t width) {
  Op op{.kind = OpKind::scores, .name = name, .inputs = {first.id, second.id}, .saved = {first.id, second.id}};
  op.forward = quantity::flops(2.0 * static_cast<double>(pairs) * static_cast<double>(width));
  op.backward_input = 2.0 * op.forward;
  return op;
}

/// Scores within each block, decayed, and what they take of the values.
Value within_blocks(BlockBuilder& b, const StateShape& rank, const Parts& x, const Blocks& n) {
  const std::int64_t samples = b.context().batch;
  const Value scores = b.value("block scores", product(samples, rank.heads), n.pairs(), x.q.width, x.q.needs_gradient);
  Op score = product_of("block scores", x.q, x.k, product(samples, n.pairs()), rank.width);
  score.outputs = {scores.id};
  score.product = {n.size, n.size, rank.state, product(samples, rank.heads, n.count)};
  b.append(score);
  const Value decayed = b.rearrange(scores, "decayed scores", scores.rows, scores.columns, OpKind::elementwise);
  const Value out = b.value("within blocks", x.q.rows, rank.width, x.q.width, x.q.needs_gradient);
  Op weigh = product_of("within blocks", decayed, x.v, product(samples, n.pairs()), rank.width);
  weigh.outputs = {out.id};
  weigh.product = {n.size, rank.state, n.size, product(samples, rank.heads, n.count)};
  b.append(weigh);
  return out;
}

/// A copy of the rows of some blocks of each sample.
Value rows_of(BlockBuilder& b, const Value& x, std::string_view name, std::int64_t positions) {
  return b.rearrange(x, name, product(b.context().batch, positions), x.columns, OpKind::permutation);
}

/// Keys and values of each block become its state, of the last block too, which has no gradient in training. The first
/// state is zeros.
Value left_states(BlockBuilder& b, const StateShape& rank, const Parts& x, const Blocks& n) {
  const std::int64_t samples = b.context().batch;
  const Value keys = rows_of(b, x.k, "decayed keys", n.positions);
  const Value values = rows_of(b, x.v, "values of states", n.positions);
  const Value states = b.value("states of blocks", product(samples, n.count), product(rank.width, rank.state),
                               x.q.width, x.q.needs_gradient);
  Op leave = product_of("states of blocks", keys, values, x.k.rows, product(rank.width, rank.state));
  leave.outputs = {states.id};
  leave.backward_input =
      2.0 * leave.forward * (static_cast<double>(n.positions - n.last) / static_cast<double>(n.positions));
  leave.product = {rank.state, rank.state, n.size, product(samples, rank.heads, n.count)};
  b.append(leave);
  return states;
}

/// Part that queries find in the state that the blocks before left; the first, of zeros, needs no gradient.
Value between_blocks(BlockBuilder& b, const StateShape& rank, const Parts& x, const Blocks& n, const Value& states) {
  const Value decayed = rows_of(b, x.q, "decayed queries", n.positions - n.size);
  const Value out = b.value("between blocks", x.q.rows, rank.width, x.q.width, x.q.needs_gradient);
  Op find = product_of("between blocks", decayed, states, x.q.rows, product(rank.width, rank.state));
  const double behind = static_cast<double>(decayed.rows) / static_cast<double>(x.q.rows);
  find.outputs = {out.id};
  find.backward_input = find.forward * (1.0 + behind);
  find.product = {n.size, rank.state, rank.state, product(b.context().batch, rank.heads, n.count)};
  b.append(find);
  return out;
}

/// Operation by operation, as transformers' class has it.
Value block_by_block(BlockBuilder& b, const StateShape& s, const StateShape& rank, const Parts& x) {
  const Blocks n = blocks_of(b.context().seq, s.block);
  const Value within = within_blocks(b, rank, x, n);
  const Value between = between_blocks(b, rank, x, n, left_states(b, rank, x, n));
  return b.add(between, within, "lightning attention");
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

/// Between two branches: gates of block-diagonal matrices, one block a head (De et al. 2024, arXiv:2402.19427 section
/// 2.4; transformers modeling_recurrent_gemma.py, RecurrentGemmaRecurrentBlock).
Value gated_recurrence(BlockBuilder& b, const StateShape& s, const Value& x) {
  constexpr double flops_a_channel = 6.0;
  const StateShape rank = share_of(s, b.context().tp);
  const Value branch =
      b.activation(b.linear(x, {Role::recurrent_y, x.columns, s.width, true, Cut::columns}), "y branch");
  const Value in = b.linear(x, {Role::recurrent_x, x.columns, s.width, true, Cut::columns});
  const Value conv = convolved(b, {s.width, s.conv_kernel, s.conv_bias}, in);
  const Gates gates = gates_of(b, s, rank, conv);
  keep_state(b, {rank.width, product(rank.width, s.conv_kernel - 1)});
  const bool chained = b.context().profile.kernels.transformers_modules && b.context().differentiates;
  const Scan scan{"gated linear recurrence", flops_a_channel, conv, {gates.both.id}, {conv.id, gates.both.id}};
  const Value out = chained ? chained_recurrence(b, gates, conv) : scanned(b, rank, scan);
  return b.linear(b.multiply(out, branch, "gated"), {Role::state_out, s.width, x.columns, true, Cut::rows});
}

/// Queries, keys and values of all heads, a norm behind the heads, and a gate (transformers modeling_minimax.py,
/// MiniMaxLightningAttention.forward; vLLM model_executor/layers/mamba/linear_attn.py, whose kernel has all of it).
Value lightning(BlockBuilder& b, const StateShape& s, const Value& x) {
  constexpr double flops_a_state = 4.0;
  const StateShape rank = share_of(s, b.context().tp);
  const Parts parts = parts_of(b, s, rank, x);
  const Value out = b.context().profile.kernels.transformers_modules && b.context().differentiates
                        ? block_by_block(b, s, rank, parts)
                        : scanned(b, rank,
                                  {"lightning attention",
                                   flops_a_state,
                                   parts.q,
                                   {parts.k.id, parts.v.id},
                                   {parts.q.id, parts.k.id, parts.v.id}});
  keep_state(b, {product(rank.width, rank.state), 0});
  const Value normed = b.norm(out, "heads norm");
  const Value gate = b.linear(x, {Role::lightning_gate, x.columns, s.width, s.bias, Cut::columns});
  const Value gated = b.multiply(b.saved_result(gate, "sigmoid of the gate"), normed, "gated");
  return b.linear(gated, {Role::state_out, s.width, x.columns, s.bias, Cut::rows});
}

}  // namespace llmcalc::layers
