// Sizes of the blocks and segments in which PyTorch's caching allocator hands out memory of an accelerator (pytorch
// c10/cuda/CUDACachingAllocator.cpp; the names behind each are its own).
#pragma once

#include "llmcalc/quantity/quantity.hpp"

#include <cstdint>

namespace llmcalc::program {

inline constexpr std::int64_t smallest_block = 512;                          // kMinBlockSize
inline constexpr std::int64_t small_size = in_bytes(quantity::mib(1));       // kSmallSize
inline constexpr std::int64_t own_segment = in_bytes(quantity::mib(10));     // kMinLargeAlloc
inline constexpr std::int64_t shared_segment = in_bytes(quantity::mib(20));  // kLargeBuffer
inline constexpr std::int64_t segment_unit = in_bytes(quantity::mib(2));     // kRoundLarge, kSmallBuffer

/// Bytes of the block that a tensor asks for.
/// \throws quantity::Overflow
constexpr std::int64_t round_size(std::int64_t tensor) { return quantity::ceil_to(tensor, smallest_block); }

/// Small blocks share segments of their own.
constexpr bool is_small(std::int64_t block) { return block <= small_size; }

/// Bytes that are asked of the driver where no block is free (get_allocation_size).
/// \throws quantity::Overflow
constexpr std::int64_t segment_size(std::int64_t block) {
  if (is_small(block)) return segment_unit;
  return block < own_segment ? shared_segment : quantity::ceil_to(block, segment_unit);
}

/// Whether what a tensor leaves of a free block becomes a block of its own (should_split).
constexpr bool splits(std::int64_t block, std::int64_t left) {
  return is_small(block) ? left >= smallest_block : left > small_size;
}

}  // namespace llmcalc::program
