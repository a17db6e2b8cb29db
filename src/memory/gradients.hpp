// The gradients of a block's activations during its backward pass, as buffers that several tensors may share.
#pragma once

#include "memory/liveness.hpp"

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
  static constexpr std::uint8_t none = 0xff;
  struct Buffer {
    std::int64_t bytes = 0;
    std::uint8_t holders = 0;
  };

  std::uint8_t make(std::int64_t bytes);
  void drop(std::uint8_t buffer);
  void merge(layers::TensorId id, std::uint8_t arriving);

  const layers::Block& block_;
  HighWater& water_;
  PerTensor<std::uint8_t> buffer_of_{};
  PerTensor<Buffer> buffers_{};
  std::uint8_t made_ = 0;
};

}  // namespace llmcalc::memory
