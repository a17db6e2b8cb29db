// What ranks exchange: tensor- and sequence-parallel ones around a matrix, with what they hold gathered for it, and
// context-parallel ones around attention.
#include "layers/inner/attention.hpp"
#include "layers/inner/builder.hpp"
#include "layers/widths.hpp"

#include <array>
#include <utility>

namespace llmcalc::layers {

using quantity::bytes;
using quantity::flops;
using quantity::product;

/// Tensor parallelism reduces what row-cut matrices make in the forward pass and the gradient of what column-cut ones
/// read in the backward pass (Shoeybi et al. 2019, arXiv:1909.08053 §3). Sequence parallelism splits each all-reduce
/// into a reduce-scatter and an all-gather, and gathers the kept slice of the input once more (Korthikanti et al. 2022
/// §4.2.2). In the backward pass a column-cut matrix exchanges beside its two products (Megatron-LM
/// core/tensor_parallel/layers.py, LinearWithGradAccumulationAndAsyncCommunication). A DTensor is kept gathered, so
/// that only what is not made again anyway is gathered once more; torchao casts before it gathers
/// (float8_tensor_parallel.py, Float8ColwiseParallel), but for scales by row, whose input is gathered in 16 bits
/// (torchtitan models/llama3/infra/parallelize.py, apply_tp, enable_float8_tensorwise_tp).
void BlockBuilder::exchange_around(Op& op, const Matrix& matrix, const Value& in, const Value& out) {
  const bool expert = matrix.experts > 1;
  if (matrix.cut == Cut::none || expert || context_.tp == 1) return;
  const bool spread = context_.sp > 1;
  const bool overlapped = context_.profile.exchange.overlaps_tensor;
  const bool overlaps_gradient = overlapped || context_.profile.exchange.overlaps_input_gradients;
  const auto message = [](Collective kind, bool backward, bool beside, quantity::Bytes size) {
    return Message{kind, RankGroup::tensor, backward, beside, size};
  };
  if (matrix.cut == Cut::rows) {
    const auto whole = bytes(product(out.rows, context_.sp, out.columns, out.width));
    op.messages.push_back(
        message(spread ? Collective::reduce_scatter : Collective::all_reduce, false, overlapped, whole));
    if (spread) op.messages.push_back(message(Collective::all_gather, true, overlapped, gathered_bytes(op, out)));
    return;
  }
  if (std::exchange(gathered_, in.id) == in.id) return;
  const auto whole = bytes(product(in.rows, context_.sp, in.columns, in.width));
  if (spread) op.messages.push_back(message(Collective::all_gather, false, overlapped, gathered_bytes(op, in)));
  if (spread && !stays_gathered() && op.backward_weight > flops(0)) {
    op.messages.push_back(message(Collective::all_gather, true, overlaps_gradient, gathered_bytes(op, in)));
  }
  if (!in.needs_gradient) return;
  op.messages.push_back(
      message(spread ? Collective::reduce_scatter : Collective::all_reduce, true, overlaps_gradient, whole));
}

/// Unless operations are chosen that run again: a gather is one of them.
bool BlockBuilder::stays_gathered() const {
  return context_.profile.exchange.keeps_gathered_inputs && !context_.selects_operations;
}

/// The first matrix that reads a slice gathers it, and all of them keep the whole for their weights' gradients. That of
/// the input exists at all positions until it is scattered.
void BlockBuilder::keep_gathered(Op& op, const Value& slice, bool first) {
  const auto whole = bytes(product(slice.rows, context_.sp, slice.columns, slice.width));
  if (first) {
    block_.tensors.push_back({"gathered input", whole, bytes(0)});
    gathered_whole_ = static_cast<TensorId>(block_.tensors.size() - 1);
    op.outputs.push_back(gathered_whole_);
  }
  op.saved.push_back(gathered_whole_);
  if (slice.needs_gradient) op.workspace_backward += whole;
}

/// All positions of a slice, in the type in which it travels.
quantity::Bytes BlockBuilder::gathered_bytes(const Op& op, const Value& slice) const {
  const std::int64_t elements = product(slice.rows, context_.sp, slice.columns);
  const bool by_row = context_.training.fp8_scaling == spec::Fp8Scaling::row;
  const bool narrow = op.narrow && context_.profile.exchange.keeps_gathered_inputs && !by_row;
  return narrow ? formats::storage_bytes(context_.training.precision.compute, elements)
                : bytes(product(elements, slice.width));
}

/// Ranks gather and scatter along a tensor's first dimension, and positions are the second: all of it is copied in
/// order (pytorch torch/distributed/_functional_collectives.py, all_gather_tensor and reduce_scatter_tensor).
void BlockBuilder::copy_in_order(const Op& op) {
  if (!context_.profile.exchange.copies || context_.sp == 1) return;
  constexpr std::int64_t passes = 2;
  std::array<quantity::Bytes, 2> moved{};
  for (const Message& m : op.messages) {
    if (m.group == RankGroup::tensor) moved[m.backward ? 1 : 0] += passes * m.size;
  }
  if (moved[0] + moved[1] > bytes(0)) pass_over("copy in order", moved[0], moved[1]);
}

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

/// PyTorch gathers the keys and values of all ranks at once, whatever the name. Beside them lie, forward, what is sent
/// and of the merge in fp32 the result so far, a step's, their difference and its product; backward the queries'
/// gradient in fp32, and that of keys and values three times: as it was, as it is sent and as it arrives
/// (torch/distributed/tensor/experimental/_context_parallel/_attention.py, _AllGatherRotater, _SDPAMerger._merge_one
/// and _templated_ring_attention_backward).
void gather_round(const Context& c, const Heads& heads, const Value& out, Op& op) {
  constexpr std::int64_t wide = fp32_width / half_width;
  constexpr std::int64_t of_merge = 4;
  constexpr std::int64_t of_gradients = 3;
  const auto pair = size_of(heads.k) + size_of(heads.v);
  op.workspace_forward += (c.cp + 1) * pair + of_merge * wide * size_of(out);
  op.workspace_backward += (c.cp + 1 + of_gradients * wide) * pair + wide * size_of(heads.q);
}

}  // namespace

/// Buffers: beside the keys and values in use those that arrive, and in the backward pass both with their gradients.
/// Transformer Engine frees neither the keys and values of a step nor its partial result before the last step, and its
/// backward kernel has gradients of its own for each (pytorch/attention/dot_product_attention/context_parallel.py,
/// AttnFuncWithCPAndKVP2P).
void pass_round(const Context& c, const Heads& heads, const Value& out, Op& op) {
  const auto pair = size_of(heads.k) + size_of(heads.v);
  const auto once = (c.cp - 1) * pair;
  const bool merges = c.profile.attention.merges_ring_steps;
  op.messages.push_back({Collective::ring, RankGroup::context, false, true, once});
  const std::int64_t in_backward = merges ? 1 + fp32_width / half_width : 2;
  op.messages.push_back({Collective::ring, RankGroup::context, true, true, in_backward * once});
  if (merges) return gather_round(c, heads, out, op);
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
