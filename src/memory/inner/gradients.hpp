// The gradients of a block's activations during its backward pass, as buffers that several tensors may share.
#pragma once

#include "memory/inner/liveness.hpp"

namespace llmcalc::memory {

/// A sum hands its output's gradient to both inputs without a copy; where two paths meet, the second gradient is added
/// in place if nobody else holds the first (pytorch torch/csrc/autograd/input_buffer.cpp, accumulate).
class Gradients {
 public:
  Gradients(const layers::Block& block, HighWater& water);

  bool has(layers::TensorId id) const { return buffer_of_[id] != none; }
  /// A gradient of the tensor's own size arrives.
  void arrive(layers::TensorId id);
  /// The gradient of `from` is also that of `to`.
  void pass(layers::TensorId from, layers::TensorId to);
  void release(layers::TensorId id);
  /// Somebody outside keeps the gradient of the tensor to the end.
  void hold(layers::TensorId id);

 private:
  using BufferId = std::uint32_t;
  static constexpr BufferId none = 0xffffffff;
  struct Buffer {
    std::int64_t bytes = 0;
    std::uint32_t holders = 0;
    BufferId next_free = none;
  };

  BufferId make(std::int64_t bytes);
  void drop(BufferId buffer);
  void merge(layers::TensorId id, BufferId arriving);

  const layers::Block& block_;
  HighWater& water_;
  PerTensor<BufferId> buffer_of_;
  PerTensor<Buffer> buffers_;  ///< each has a holder: a tensor, somebody outside, or the one that arrives
  BufferId made_ = 0;
  BufferId first_free_ = none;
};

/// Bytes that the products of a block keep from its backward pass until the gradients of its weights are made, where a
/// schedule makes those apart: the input of each and the gradient of its output (Qi et al. 2023, arXiv:2401.10241 table
/// 1: 32sbh of a GPT layer).
quantity::Bytes deferred_by(const layers::Block& block);

}  // namespace llmcalc::memory
