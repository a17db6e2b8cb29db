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

/// What is fixed about the tensors of a block before it runs.
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

}  // namespace llmcalc::memory
