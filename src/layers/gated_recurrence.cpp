// RG-LRU (De et al. 2024, arXiv:2402.19427).
#include "layers/inner/recurrence.hpp"
#include "layers/widths.hpp"

namespace llmcalc::layers {

using quantity::product;
using spec::StateShape;

namespace {

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

}  // namespace

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

}  // namespace llmcalc::layers
