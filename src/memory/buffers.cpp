#include "memory/inner/buffers.hpp"

#include "layers/widths.hpp"
#include "memory/block_prices.hpp"
#include "program/states.hpp"
#include "quantity/lists.hpp"

#include <algorithm>
#include <bit>

namespace llmcalc::memory {

using quantity::Bytes;
using quantity::bytes;
using quantity::product;

namespace {

/// torch DDP reduces gradients in buckets that are a second copy of them unless gradients are views of the buckets
/// (torch/nn/parallel/distributed.py, gradient_as_bucket_view).
bool has_bucket_copy(const program::StateSharding& sharding, const frameworks::Profile& profile) {
  return sharding.replicates_with_buckets() && !profile.gradients.persistent;
}

bool has_experts(const program::Program& program) {
  return std::ranges::any_of(program.blocks, [](const auto& block) {
    return std::ranges::any_of(block.weights, [](const auto& w) { return w.split == layers::Split::expert; });
  });
}

/// Tensor that one stage hands to the next for one micro-batch.
Bytes stage_tensor(const spec::Question& question) {
  const auto& layout = question.layout;
  const std::int64_t tokens = question.training.micro_batch_tokens() / (layout.cp * (layout.sp ? layout.tp : 1));
  return bytes(product(tokens, question.model.shape.hidden, layers::half_width));
}

}  // namespace

Bytes workspaces(const program::Program& program, const frameworks::Profile& profile) {
  return has_experts(program) ? profile.allocator.workspace + profile.experts.workspace : profile.allocator.workspace;
}

Bytes score_buffer(const spec::Question& question, const frameworks::Profile& profile) {
  if (!profile.attention.keeps_score_buffer) return bytes(0);
  const auto& training = question.training;
  const std::int64_t heads = question.model.shape.heads / question.layout.tp;
  return bytes(
      product(training.sequences(), heads, training.seq / question.layout.cp, training.seq, layers::half_width));
}

Bytes bucket_copy(const frameworks::Profile& profile, const program::StateSharding& sharding, Bytes gradients) {
  return has_bucket_copy(sharding, profile) ? gradients : bytes(0);
}

StageTensors stage_tensors(const spec::Question& question, const frameworks::Profile& profile, std::int64_t stage) {
  const auto& layout = question.layout;
  if (layout.pp == 1 || !profile.exchange.retains_stage_tensors) return {};
  const std::int64_t chunks_behind_another = stage == 0 ? layout.vpp - 1 : layout.vpp;
  const Bytes one = stage_tensor(question);
  return {chunks_behind_another * one, 2 * layout.vpp * one};
}

Bytes flat_gradient(const layers::Block& block) {
  if (std::ranges::none_of(block.weights, &layers::Weight::trainable)) return bytes(0);
  const auto elements = quantity::sum_of(block.weights, [](const auto& w) { return w.shared ? 0 : w.elements; });
  return bytes(product(elements, layers::half_width));
}

Bytes accumulated_gradients(const layers::Block& block, const spec::Training& training) {
  auto sum = bytes(0);
  for (const auto& weight : block.weights) {
    if (weight.trainable && !weight.shared) sum += formats::storage_bytes(training.precision.grads, weight.elements);
  }
  return sum;
}

Bytes gathered_weights(const layers::Block& block, const spec::Training& training) {
  const bool narrow = training.precision.compute != formats::Dtype::fp32;
  auto sum = bytes(0);
  for (const auto& weight : block.weights) {
    if (weight.shared) continue;
    const Bytes own = formats::storage_bytes(weight.dtype, weight.elements);
    sum += narrow ? std::min(own, bytes(product(weight.elements, layers::half_width))) : own;
  }
  return sum;
}

namespace {}  // namespace

void ScratchGradients::assign(const program::Program& program) {
  shapes_.clear();
  sizes_.fill(bytes(0));
  blocks_.clear();
  for (const auto& block : program.blocks) blocks_.push_back(mark(block));
}

std::uint64_t ScratchGradients::mark(const layers::Block& block) {
  std::uint64_t marks = 0;
  for (const auto& weight : block.weights) {
    if (!weight.trainable || !program::is_hidden_matrix(weight)) continue;
    const std::pair shape{weight.rows, weight.columns};
    const auto known = std::ranges::find(shapes_, shape);
    const auto index = std::min<std::size_t>(static_cast<std::size_t>(known - shapes_.begin()), sizes_.size() - 1);
    if (known == shapes_.end()) {
      shapes_.push_back(shape);
      sizes_[index] += bytes(product(weight.rows, weight.columns, layers::half_width));
    }
    marks |= std::uint64_t{1} << index;
  }
  return marks;
}

Bytes ScratchGradients::of(std::span<const program::BlockRun> runs) const {
  std::uint64_t marks = 0;
  for (const auto& run : runs) marks |= blocks_.empty() ? 0 : blocks_[run.block];
  auto sum = bytes(0);
  for (; marks != 0; marks &= marks - 1) sum += sizes_[static_cast<std::size_t>(std::countr_zero(marks))];
  return sum;
}

}  // namespace llmcalc::memory
