// Which tensors of a block are alive, and where the store of a walk keeps them.
//
// A store is what a walk asks about: how many bytes are alive at once (HighWater), or what an allocator takes from the
// accelerator to hold them (CachingAllocator). It has a Place, allocate(), free(), touch() and leave().
#pragma once

#include "program/program.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace llmcalc::memory {

/// A count of live bytes that remembers its highest value.
class HighWater {
 public:
  struct Place {};  ///< a sum has none

  Place allocate(std::int64_t bytes) {
    live_ += bytes;
    peak_ = std::max(peak_, live_);
    return {};
  }
  void free(Place, std::int64_t bytes) { live_ -= bytes; }
  /// Something that exists only beside what is alive now, whatever tensors it is made of.
  void touch(std::int64_t bytes, std::int64_t = 0) { peak_ = std::max(peak_, live_ + bytes); }
  /// Something that outlives the block.
  void leave(std::int64_t bytes) { allocate(bytes); }
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
template <class Store>
class Alive {
 public:
  using Place = typename Store::Place;

  Alive(const layers::Block& block, Store& store) : block_(&block), store_(&store), alive_(block), place_(block) {}

  void start(layers::TensorId id) {
    if (!alive_[id]) adopt(id, store_->allocate(quantity::in_bytes(block_->tensors[id].size)));
  }
  void end(layers::TensorId id) {
    if (alive_[id]) store_->free(hand_over(id), quantity::in_bytes(block_->tensors[id].size));
  }
  void end_all() {
    for (std::size_t id = 0; id < block_->tensors.size(); ++id) end(static_cast<layers::TensorId>(id));
  }
  bool has(layers::TensorId id) const { return alive_[id]; }

  /// Takes a tensor that another block has made, or hands it on.
  void adopt(layers::TensorId id, Place place) {
    alive_[id] = true;
    place_[id] = place;
  }
  Place hand_over(layers::TensorId id) {
    alive_[id] = false;
    return place_[id];
  }

 private:
  const layers::Block* block_;
  Store* store_;
  PerTensor<bool> alive_;
  PerTensor<Place> place_;
};

/// A sum hands its output's gradient to both inputs without a copy; where two paths meet, the second gradient is added
/// in place if nobody else holds the first (pytorch torch/csrc/autograd/input_buffer.cpp, accumulate).
template <class Store>
class Gradients {
 public:
  using Place = typename Store::Place;

  Gradients(const layers::Block& block, Store& store)
      : block_(block), store_(store), buffer_of_(block, none), buffers_(block.tensors.size() + 2, {}) {}

  bool has(layers::TensorId id) const { return buffer_of_[id] != none; }

  /// A gradient of the tensor's own size arrives.
  void arrive(layers::TensorId id) {
    const std::int64_t bytes = quantity::in_bytes(block_.tensors[id].gradient);
    if (bytes > 0) merge(id, make(bytes, store_.allocate(bytes)));
  }

  /// The gradient of `from` is also that of `to`.
  void pass(layers::TensorId from, layers::TensorId to) {
    if (!has(from) || quantity::in_bytes(block_.tensors[to].gradient) == 0) return;
    hold(from);
    merge(to, buffer_of_[from]);
  }

  void release(layers::TensorId id) {
    if (has(id)) drop(std::exchange(buffer_of_[id], none));
  }

  /// Somebody outside keeps the gradient of the tensor to the end.
  void hold(layers::TensorId id) {
    if (has(id)) ++buffers_[buffer_of_[id]].holders;
  }

  /// Takes a gradient that another block has made.
  void adopt(layers::TensorId id, Place place) {
    buffer_of_[id] = make(quantity::in_bytes(block_.tensors[id].gradient), place);
  }
  /// Hands one on, and gives up all others, whoever holds them.
  /// \pre has(id)
  Place hand_over(layers::TensorId id) {
    const BufferId handed = buffer_of_[id];
    end_all_but(handed);
    return buffers_[handed].place;
  }
  void end_all() { end_all_but(none); }

 private:
  using BufferId = std::uint32_t;
  static constexpr BufferId none = 0xffffffff;
  struct Buffer {
    std::int64_t bytes = 0;
    std::uint32_t holders = 0;
    BufferId next_free = none;
    [[no_unique_address]] Place place{};
  };

  BufferId make(std::int64_t bytes, Place place) {
    const BufferId buffer = first_free_ == none ? made_++ : first_free_;
    first_free_ = buffers_[buffer].next_free;
    buffers_[buffer] = {bytes, 1, none, place};
    return buffer;
  }

  void drop(BufferId buffer) {
    if (--buffers_[buffer].holders > 0) return;
    store_.free(buffers_[buffer].place, buffers_[buffer].bytes);
    buffers_[buffer].next_free = std::exchange(first_free_, buffer);
  }

  void merge(layers::TensorId id, BufferId arriving) {
    const BufferId present = buffer_of_[id];
    if (present == none) {
      buffer_of_[id] = arriving;
    } else if (buffers_[present].holders == 1) {
      drop(arriving);
    } else {
      drop(present);
      buffer_of_[id] = arriving;
    }
  }

  void end_all_but(BufferId kept) {
    for (BufferId buffer = 0; buffer < made_; ++buffer) {
      if (buffer == kept || buffers_[buffer].holders == 0) continue;
      buffers_[buffer].holders = 1;
      drop(buffer);
    }
  }

  const layers::Block& block_;
  Store& store_;
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
