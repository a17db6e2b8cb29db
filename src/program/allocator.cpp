#include "program/allocator.hpp"

namespace llmcalc::program {

using quantity::Bytes;
using quantity::bytes;
using quantity::ceil_divide;
using quantity::ceil_to;
using quantity::in_bytes;
using quantity::mib;
using quantity::product;

namespace {

// pytorch c10/cuda/CUDACachingAllocator.cpp
constexpr std::int64_t smallest_block = 512;                // kMinBlockSize
constexpr std::int64_t small_size = in_bytes(mib(1));       // kSmallSize
constexpr std::int64_t own_segment = in_bytes(mib(10));     // kMinLargeAlloc
constexpr std::int64_t shared_segment = in_bytes(mib(20));  // kLargeBuffer
constexpr std::int64_t segment_unit = in_bytes(mib(2));     // kRoundLarge

/// What is left of a block is split off if it is more than `small_size`, or in a segment of small blocks (round_size,
/// get_allocation_size and should_split).
std::int64_t slack_alone(std::int64_t size) {
  const std::int64_t rounded = ceil_to(size, smallest_block);
  const std::int64_t left = ceil_to(rounded, segment_unit) - size;
  return rounded <= small_size || left > small_size ? rounded - size : left;
}

/// Tensors of s bytes on average fill a segment of B bytes one after the other, B/s of them. What the last one leaves
/// is any of the s/g multiples of the sizes' granule g below s, and counted with it where it is no more than
/// `small_size` m. The sum of the first m/g multiples over s/g and over B/s is m(m + g)/2B a tensor, whatever its size.
constexpr std::int64_t shared_slack = small_size / 2 * small_size / shared_segment;  // where g is next to nothing

}  // namespace

AllocatorSlack::AllocatorSlack(Bytes tensor, std::int64_t tensors, std::int64_t shards) {
  const std::int64_t size = in_bytes(tensor);
  if (size > small_size && size < own_segment) {
    shared_ = ceil_divide(product(tensors, shared_slack), shards);
    granule_ = shards == 1 ? std::max(size & -size, smallest_block) : smallest_block;
  } else {
    own_ = ceil_divide(product(tensors, slack_alone(size)), shards);
  }
}

Bytes AllocatorSlack::total() const {
  if (granule_ > small_size) return bytes(own_);
  return bytes(own_ + product(shared_, small_size + granule_) / small_size);
}

}  // namespace llmcalc::program
