// What PyTorch's caching allocator hands out for tensors beyond their own bytes.
#pragma once

#include "llmcalc/quantity/quantity.hpp"

#include <algorithm>
#include <cstdint>

namespace llmcalc::program {

/// The bytes that `torch.cuda.memory_allocated` counts for tensors beyond their own.
class AllocatorSlack {
 public:
  AllocatorSlack() = default;
  /// Of so many tensors of one size. Of sharded ones a rank has slices, as many tensors as its share is.
  AllocatorSlack(quantity::Bytes tensor, std::int64_t tensors, std::int64_t shards);

  AllocatorSlack& add(const AllocatorSlack& other, std::int64_t count) {
    own_ += count * other.own_;
    shared_ += count * other.shared_;
    granule_ = common(granule_, other.granule_);
    return *this;
  }
  quantity::Bytes total() const;

 private:
  /// Of sizes with two granules every multiple of the smaller one is left somewhere.
  static std::int64_t common(std::int64_t a, std::int64_t b) {
    return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
  }

  std::int64_t own_ = 0;      ///< bytes, of tensors whose blocks are no others' business
  std::int64_t shared_ = 0;   ///< bytes, of tensors that share segments, were their sizes not multiples of anything
  std::int64_t granule_ = 0;  ///< what the sizes of those are multiples of, a power of two; 0: there are none
};

}  // namespace llmcalc::program
