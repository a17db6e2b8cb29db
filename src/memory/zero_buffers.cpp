#include "memory/inner/zero_buffers.hpp"

#include "layers/widths.hpp"
#include "llmcalc/spec/question.hpp"

#include <algorithm>

namespace llmcalc::memory {

using quantity::Bytes;
using quantity::bytes;
using quantity::product;

namespace {

std::int64_t gradient_width(const spec::Training& training) {
  return quantity::in_bytes(formats::storage_bytes(training.precision.grads, 1));
}

/// The sum of a number for each weight of the whole model, as one pipeline stage at most has of it.
template <class Number>
std::int64_t sum_of_stage(const program::Program& program, const Number& number) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < program.blocks.size(); ++i) {
    std::int64_t of_block = 0;
    for (const auto& w : program.blocks[i].weights) of_block += number(w);
    sum += of_block * std::ranges::count(program.sequence, static_cast<std::uint16_t>(i));
  }
  return sum / program.stages;
}

std::int64_t trained_elements(const program::Program& program) {
  return sum_of_stage(program, [](const auto& w) { return w.trainable && !w.shared ? w.elements : 0; });
}

/// Stage 3 keeps tensors below the threshold whole beside their shards (runtime/zero/parameter_offload.py,
/// param_persistence_threshold).
Bytes persistent_tensors(const program::Program& program, std::int64_t threshold) {
  return bytes(sum_of_stage(program, [&](const layers::Weight& w) {
    return w.elements < threshold ? quantity::in_bytes(formats::storage_bytes(w.dtype, w.elements)) : 0;
  }));
}

}  // namespace

/// Stage 1 flattens gradients into a bucket at the step and gathers the updated weights in another; stage 2 has its
/// bucket through the backward pass and none to overlap with unless asked for (runtime/engine.py,
/// _configure_zero_optimizer; runtime/zero/stage_1_and_2.py, backward). Stage 3 holds its bucket from the start
/// (runtime/zero/stage3.py, ipg bucket flat buffer).
ZeroBuffers zero_buffers(const program::Program& program, const spec::Question& question,
                         const frameworks::ZeroEngine& engine) {
  ZeroBuffers buffers;
  if (engine.reduce_bucket == 0) return buffers;
  const std::int64_t trained = trained_elements(program);
  const Bytes bucket = bytes(product(engine.reduce_bucket, gradient_width(question.training)));
  const Bytes flattened = bytes(product(std::min(engine.reduce_bucket, trained), gradient_width(question.training)));
  const Bytes gathered = bytes(product(std::min(engine.gather_bucket, trained), layers::half_width));
  switch (question.layout.sharding) {
    case spec::Sharding::zero1: buffers.step = std::max(flattened, gathered); break;
    case spec::Sharding::zero2:
      buffers.backward = bucket;
      buffers.step = gathered;
      break;
    case spec::Sharding::zero3: buffers.always = bucket + persistent_tensors(program, engine.smallest_sharded); break;
    default: break;
  }
  return buffers;
}

}  // namespace llmcalc::memory
