#include "layers/inner/attention.hpp"
#include "layers/widths.hpp"

namespace llmcalc::layers {

using quantity::bytes;
using quantity::product;

namespace {

quantity::Bytes size_of(const Value& x) { return bytes(product(x.rows, x.columns, x.width)); }

/// Value with the same elements, of all positions and a share of the heads.
Value spread_over_heads(BlockBuilder& b, const Value& x, std::string_view name) {
  const std::int64_t ranks = b.context().cp;
  return b.value(name, product(x.rows, ranks), x.columns / ranks, x.width, x.needs_gradient);
}

/// All ranks exchange `size` bytes each, in both passes; a copy of what is sent lies in the order of the exchange.
void exchange(Op& op, quantity::Bytes size, bool needs_gradient) {
  op.messages.push_back({Collective::all_to_all, RankGroup::context, false, false, size});
  if (needs_gradient) op.messages.push_back({Collective::all_to_all, RankGroup::context, true, false, size});
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
  const std::int64_t in_backward = c.profile.attention.merges_ring_steps ? 1 + fp32_width / half_width : 2;
  op.messages.push_back({Collective::ring, RankGroup::context, false, true, once});
  op.messages.push_back({Collective::ring, RankGroup::context, true, true, in_backward * once});
  op.workspace_forward += c.profile.attention.keeps_ring_steps ? c.cp * (pair + size_of(out)) : pair;
  op.workspace_backward += 4 * pair;
  if (c.profile.attention.keeps_ring_steps) op.workspace_backward += size_of(heads.q) + pair;
}

/// PyTorch's ring attention merges each step's result in fp32 by a chain of kernels, for one half of the steps on half
/// the positions, which are then put together with the others, and passes gradients of keys and values on in fp32
/// (torch/distributed/tensor/experimental/_attention.py, _SDPAMerger._merge_one, _templated_ring_attention and
/// _templated_ring_attention_backward). Bytes an element of the output: the cast (2 + 4), the difference (4 + 4 + 4),
/// its product (4 + 4), the next result (4 + 4 + 4); of half of them and the whole put together (4 + 4). Of keys and
/// values what is sent (2 + 2). Backward the queries' gradient (2 + 4 + 4); that of keys and values likewise, and put
/// together (4 + 4).
void merge_steps(BlockBuilder& b, const Heads& heads, const Value& out) {
  constexpr std::int64_t merged_bytes = 38;
  constexpr std::int64_t half_merged_bytes = merged_bytes / 2 + 8;
  constexpr std::int64_t sent_bytes = 4;
  constexpr std::int64_t gradient_bytes = 10;
  constexpr std::int64_t passed_on_bytes = gradient_bytes + 8;
  const auto elements = [](const Value& x) { return product(x.rows, x.columns); };
  const std::int64_t pair = elements(heads.k) + elements(heads.v);
  const std::int64_t steps = b.context().cp - 1;
  const std::int64_t forward = (merged_bytes + half_merged_bytes) / 2 * elements(out) + sent_bytes * pair;
  const std::int64_t backward = gradient_bytes * elements(heads.q) + (sent_bytes + passed_on_bytes) * pair;
  b.pass_over("merge of ring steps", bytes(product(steps, forward)),
              bytes(product(steps, out.needs_gradient ? backward : 0)));
  b.block().ops.back().eager = true;
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
