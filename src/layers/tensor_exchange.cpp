// What tensor- and sequence-parallel ranks exchange around a matrix, and what they hold gathered for it.
#include "layers/inner/builder.hpp"

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

}  // namespace llmcalc::layers
