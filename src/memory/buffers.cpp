#include "memory/buffers.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace llmcalc::memory {

using quantity::Bytes;
using quantity::bytes;
using quantity::product;

namespace {

constexpr std::int64_t half_width = 2;

/// torch DDP reduces gradients in buckets that are a second copy of them unless gradients are views of the buckets
/// (torch/nn/parallel/distributed.py, gradient_as_bucket_view).
bool has_bucket_copy(const program::Sharding& sharding, const program::Profile& profile) {
  return sharding.replicates_with_buckets() && !profile.persistent_gradients;
}

bool has_experts(const program::Program& program) {
  return std::ranges::any_of(program.blocks, [](const auto& block) {
    return std::ranges::any_of(block.weights, [](const auto& w) { return w.split == program::Split::expert; });
  });
}

/// What a stage received and what it sent stay referenced until the next step replaces them, once a virtual stage
/// (measured: Megatron-LM functional tests hold 2*T*h*2 B more between steps under pp 2 and 4, three times that with
/// three virtual stages).
Bytes stage_tensors(const spec::Question& question) {
  const auto& layout = question.layout;
  if (layout.pp == 1) return bytes(0);
  const std::int64_t tokens = question.training.micro_batch_tokens() / (layout.cp * (layout.sp ? layout.tp : 1));
  return bytes(product(2, layout.vpp, tokens, question.model.shape.hidden, half_width));
}

}  // namespace

Bytes workspaces(const program::Program& program, const program::Profile& profile) {
  return has_experts(program) ? profile.workspace + profile.expert_workspace : profile.workspace;
}

Bytes score_buffer(const spec::Question& question, const program::Profile& profile) {
  if (!profile.keeps_score_buffer) return bytes(0);
  const auto& training = question.training;
  const std::int64_t heads = question.model.shape.heads / question.layout.tp;
  return bytes(product(training.sequences(), heads, training.seq / question.layout.cp, training.seq, half_width));
}

Bytes exchange_buffers(const spec::Question& question, const program::Profile& profile,
                       const program::Sharding& sharding, Bytes gradients) {
  Bytes sum = bytes(0);
  if (profile.retains_stage_tensors) sum += stage_tensors(question);
  if (has_bucket_copy(sharding, profile)) sum += gradients;
  return sum;
}

Bytes dummy_gradients(const program::Program& program) {
  std::vector<std::pair<std::int64_t, std::int64_t>> shapes;
  auto sum = bytes(0);
  for (const auto& block : program.blocks) {
    for (const auto& weight : block.weights) {
      if (weight.rows <= 1 || weight.columns <= 1 || weight.table || !weight.trainable) continue;
      const std::pair shape{weight.rows, weight.columns};
      if (std::ranges::find(shapes, shape) != shapes.end()) continue;
      shapes.push_back(shape);
      sum += bytes(product(weight.rows, weight.columns, half_width));
    }
  }
  return sum;
}

Bytes flat_gradient(const program::Block& block) {
  if (std::ranges::none_of(block.weights, &program::Weight::trainable)) return bytes(0);
  std::int64_t elements = 0;
  for (const auto& weight : block.weights) elements += weight.shared ? 0 : weight.elements;
  return bytes(product(elements, half_width));
}

Bytes gathered_weights(const program::Block& block, const spec::Training& training) {
  const bool narrow = training.precision.compute != spec::Dtype::fp32;
  auto sum = bytes(0);
  for (const auto& weight : block.weights) {
    if (weight.shared) continue;
    const Bytes own = spec::storage_bytes(weight.dtype, weight.elements);
    sum += narrow ? std::min(own, bytes(product(weight.elements, half_width))) : own;
  }
  return sum;
}

}  // namespace llmcalc::memory
