#include "layers/context_exchange.hpp"

namespace llmcalc::layers {

using quantity::bytes;
using quantity::product;

namespace {

quantity::Bytes size_of(const Value& x) { return bytes(product(x.rows, x.columns, x.width)); }

/// The same elements, of all positions and a share of the heads.
Value spread_over_heads(BlockBuilder& b, const Value& x, std::string_view name) {
  const std::int64_t ranks = b.context().cp;
  return b.value(name, product(x.rows, ranks), x.columns / ranks, x.width, x.needs_gradient);
}

/// All ranks exchange `size` bytes each, in both passes; a copy of what is sent lies in the order of the exchange.
void exchange(Op& op, quantity::Bytes size, bool needs_gradient) {
  op.messages.push_back({Collective::all_to_all, Group::context, false, false, size});
  if (needs_gradient) op.messages.push_back({Collective::all_to_all, Group::context, true, false, size});
  op.workspace_forward = op.workspace_backward = size;
}

}  // namespace

/// Buffers: beside the keys and values in use those that arrive, and in the backward pass both with their gradients.
/// Transformer Engine frees neither the keys and values of a step nor its partial result before the last step, and its
/// backward kernel has gradients of its own for each (pytorch/attention/dot_product_attention/context_parallel.py,
/// AttnFuncWithCPAndKVP2P).
void pass_round(const Context& c, const Heads& heads, const Value& out, Op& op) {
  const auto pair = size_of(heads.k) + size_of(heads.v);
  const auto once = (c.cp - 1) * pair;
  op.messages.push_back({Collective::ring, Group::context, false, true, once});
  op.messages.push_back({Collective::ring, Group::context, true, true, 2 * once});
  op.workspace_forward += c.profile.attention.keeps_ring_steps ? c.cp * (pair + size_of(out)) : pair;
  op.workspace_backward += 4 * pair;
  if (c.profile.attention.keeps_ring_steps) op.workspace_backward += size_of(heads.q) + pair;
}

Heads exchange_positions(BlockBuilder& b, const Heads& heads) {
  const Heads whole{spread_over_heads(b, heads.q, "queries of all positions"),
                    spread_over_heads(b, heads.k, "keys of all positions"),
                    spread_over_heads(b, heads.v, "values of all positions")};
  Op op{.kind = OpKind::permutation,
        .name = "exchange positions for heads",
        .inputs = {heads.q.id},
        .outputs = {whole.q.id, whole.k.id, whole.v.id}};
  if (heads.k.id != heads.q.id) op.inputs.push_back(heads.k.id);
  if (heads.v.id != heads.q.id && heads.v.id != heads.k.id) op.inputs.push_back(heads.v.id);
  exchange(op, size_of(whole.q) + size_of(whole.k) + size_of(whole.v), whole.q.needs_gradient);
  b.append(op);
  return whole;
}

Value exchange_heads(BlockBuilder& b, const Value& out) {
  const std::int64_t ranks = b.context().cp;
  const Value own = b.value("attention output of own positions", out.rows / ranks, product(out.columns, ranks),
                            out.width, out.needs_gradient);
  Op op{.kind = OpKind::permutation, .name = "exchange heads for positions", .inputs = {out.id}, .outputs = {own.id}};
  exchange(op, size_of(out), out.needs_gradient);
  b.append(op);
  return own;
}

}  // namespace llmcalc::layers
