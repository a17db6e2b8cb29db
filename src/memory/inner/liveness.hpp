// Which tensors of a block are alive, how many bytes that is, and how high it rose.
#pragma once

#include "program/program.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace llmcalc::memory {

/// A count of live bytes that remembers its highest value.
class HighWater {
 public:
  void allocate(std::int64_t bytes) {
    live_ += bytes;
    peak_ = std::max(peak_, live_);
  }
  void free(std::int64_t bytes) { live_ -= bytes; }
  /// Something that exists only beside what is alive now.
  void touch(std::int64_t bytes) { peak_ = std::max(peak_, live_ + bytes); }
  std::int64_t live() const { return live_; }
  std::int64_t peak() const { return peak_; }

 private:
  std::int64_t live_ = 0;
  std::int64_t peak_ = 0;
};

/// Recompute groups of a block, with 0 for none: as many as their index has values.
inline constexpr std::size_t most_groups = 256;

/// A value for each tensor of a block. A block has a few dozen, for which nothing is allocated, because a search takes
/// millions of walks; adapters beside each matrix and unlike parts of a hybrid make it some hundred.
template <class T>
class PerTensor {
 public:
  PerTensor(std::size_t size, T value) {
    if (size > few_.size()) many_ = std::make_unique<T[]>(size);
    std::fill_n(values(), size, value);
  }
  explicit PerTensor(const layers::Block& block, T value = {}) : PerTensor(block.tensors.size(), value) {}

  T& operator[](std::size_t i) { return values()[i]; }
  const T& operator[](std::size_t i) const { return many_ ? many_[i] : few_[i]; }

 private:
  static constexpr std::size_t usual = 128;

  T* values() { return many_ ? many_.get() : few_.data(); }

  std::array<T, usual> few_;
  std::unique_ptr<T[]> many_;
};

/// Lifetimes of the tensors of a block, fixed before it runs.
struct Lifetimes {
  explicit Lifetimes(const layers::Block& block);

  PerTensor<std::int32_t> last_use;                     ///< index of the last operation that reads it going forward
  PerTensor<std::uint16_t> savers;                      ///< operations that keep it for their backward
  PerTensor<std::uint8_t> producer_group;               ///< recompute group of the operation that makes it
  PerTensor<bool> kept;                                 ///< alive between the forward and the backward pass
  std::array<std::int32_t, most_groups> group_start{};  ///< index of the first operation of each recompute group
};

/// The tensors that are alive now.
class Alive {
 public:
  Alive(const layers::Block& block, HighWater& water) : block_(block), water_(water), alive_(block) {}

  void start(layers::TensorId id) {
    if (alive_[id]) return;
    alive_[id] = true;
    water_.allocate(quantity::in_bytes(block_.tensors[id].size));
  }
  void end(layers::TensorId id) {
    if (!alive_[id]) return;
    alive_[id] = false;
    water_.free(quantity::in_bytes(block_.tensors[id].size));
  }

 private:
  const layers::Block& block_;
  HighWater& water_;
  PerTensor<bool> alive_;
};

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
