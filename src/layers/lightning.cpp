// Lightning attention (Qin et al. 2024, arXiv:2401.04658): linear attention with a fixed decay a head, block by block.
#include "layers/inner/recurrence.hpp"

#include <algorithm>

namespace llmcalc::layers {

using quantity::product;
using spec::StateShape;

namespace {

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

/// What queries, keys and values are parts of goes through SiLU, which keeps it; products copy each by head.
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

/// What queries find in the state that the blocks before left; the first, of zeros, needs no gradient.
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
