#include "layers/inner/loss_without_logits.hpp"

#include "layers/widths.hpp"

#include <algorithm>
#include <bit>

namespace llmcalc::layers {

using quantity::bytes;
using quantity::product;

namespace {

/// Rows of one chunk of the fused linear cross-entropy: a power of two such that a chunk's logits are about as large as
/// the hidden states (Liger-Kernel ops/fused_linear_cross_entropy.py, fused_linear_cross_entropy_forward).
std::int64_t fused_linear_chunk(std::int64_t rows, std::int64_t hidden, std::int64_t vocab) {
  const std::int64_t chunks = quantity::ceil_divide(vocab, hidden);
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(quantity::ceil_divide(rows, chunks))));
}

/// One chunk; or a tile of all logits in fp32 (unsloth-zoo fused_losses/fused_linear.py: fused_linear_rows, and the
/// tiled forward pass of a frozen head).
quantity::Bytes logits_at_once(const Context& c, const Value& logits, const Weight& head) {
  const auto tile = c.profile.head.loss_tile;
  if (tile > bytes(0)) return std::min(tile, bytes(product(logits.rows, logits.columns, fp32_width)));
  return bytes(product(fused_linear_chunk(logits.rows, head.rows, head.columns), logits.columns, c.width));
}

/// Takes the head's product out of the block: a kernel that goes on to the loss stands in its place.
Op take_product(Block& block, const Matrix& head) {
  const auto multiplies = [&](const Op& op) {
    return op.weight != no_weight && block.weights[op.weight].role == head.role;
  };
  const auto product = std::ranges::find_if(block.ops, multiplies);
  Op op = *product;
  block.ops.erase(product);
  return op;
}

}  // namespace

void fused_linear_loss(BlockBuilder& b, const Value& x, const Matrix& head) {
  Block& block = b.block();
  const Value logits = b.linear(x, head);
  Op op = take_product(block, head);
  const Weight& w = block.weights[op.weight];
  const Value input_gradient = b.value("gradient of hidden", x.rows, x.columns, x.width, false);
  op.kind = OpKind::loss;
  op.name = "fused linear cross-entropy";
  op.outputs = {input_gradient.id};
  op.saved = {input_gradient.id};
  if (w.trainable) {
    const Value weight_gradient = b.value("gradient of head", w.rows, w.columns, b.context().width, false);
    op.outputs.push_back(weight_gradient.id);
    op.saved.push_back(weight_gradient.id);
  }
  op.workspace_forward = logits_at_once(b.context(), logits, w);
  op.gradient_in_place = true;
  b.append(op);
}

void cut_loss(BlockBuilder& b, const Value& x, const Matrix& head) {
  constexpr std::int64_t kept_numbers = 2;
  const Value logits = b.linear(x, head);
  Op op = take_product(b.block(), head);
  const Value kept = b.value("log-sum-exp and label", logits.rows, kept_numbers, fp32_width, logits.needs_gradient);
  op.outputs = {kept.id};
  op.kernel_recompute = op.forward;
  b.append(op);
  b.append({.kind = OpKind::loss, .name = "cut cross-entropy", .inputs = {kept.id}, .saved = {kept.id}});
}

}  // namespace llmcalc::layers
