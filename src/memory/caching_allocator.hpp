// PyTorch's caching allocator, as it takes segments from the driver and hands out blocks of them (pytorch
// c10/cuda/CUDACachingAllocator.cpp): what is allocated, freed and allocated again leaves more reserved than was ever
// alive, because a free block serves only what fits it.
#pragma once

#include "program/cuda_blocks.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace llmcalc::memory {

/// The allocator of one accelerator, and a store of walks over tensors.
class CachingAllocator {
 public:
  using Place = std::uint32_t;  ///< a block, until it is freed
  static constexpr Place nowhere = std::numeric_limits<Place>::max();

  /// \param room  bytes that the driver has
  explicit CachingAllocator(std::int64_t room) : room_(room) {}

  /// The smallest free block that the tensor fits, or a new segment. Before more is asked of the driver than it has,
  /// segments that are wholly free go back; what is reserved exceeds the room only where that is not enough.
  Place allocate(std::int64_t bytes);
  void free(Place place, std::int64_t bytes = 0);
  /// Something that is freed before anything else is allocated: a free block that it fits is as it was.
  /// \param largest  of the tensors that it is made of; 0: it is one
  void touch(std::int64_t bytes, std::int64_t largest = 0);

  /// Something that stays until end_left().
  void leave(std::int64_t bytes) { left_.push_back(allocate(bytes)); }
  std::size_t left() const { return left_.size(); }
  /// \param from  the count of what was left before
  void end_left(std::size_t from = 0);

  std::int64_t highest_allocated() const { return highest_allocated_; }  ///< torch.cuda.max_memory_allocated
  std::int64_t highest_reserved() const { return highest_reserved_; }    ///< torch.cuda.max_memory_reserved

 private:
  struct Block {
    std::int64_t address = 0;
    std::int64_t size = 0;
    Place before = nowhere;  ///< in the same segment
    Place behind = nowhere;
    bool is_free = false;
    bool of_small = false;  ///< in a segment of small blocks
  };
  struct Spot {
    std::int64_t address = 0;
    Place place = nowhere;
  };
  /// Free blocks of one size, those at the lowest addresses last: the next one is the last, and what is freed in the
  /// order of a backward pass goes behind the others.
  using Spots = std::vector<Spot>;
  struct Row {
    std::int64_t size = 0;
    std::uint32_t spots = 0;  ///< which of them all
  };
  using Pool = std::vector<Row>;  ///< by size, none of them empty

  Place make(const Block& block);
  Place take_segment(std::int64_t block);
  void give_back();
  void split(Place place, std::int64_t size);
  void list(Place place);
  void unlist(Place place);
  void join(Place first, Place second);
  Pool& pool(bool of_small) { return free_[of_small ? 0 : 1]; }
  /// The first of a pool that is no smaller.
  static Pool::iterator fitting(Pool& pool, std::int64_t size);
  static Spots::iterator spot_in(Spots& spots, std::int64_t address);
  Pool::iterator leave_empty(Pool& pool, Pool::iterator row);

  std::int64_t room_;
  std::int64_t allocated_ = 0;
  std::int64_t highest_allocated_ = 0;
  std::int64_t reserved_ = 0;
  std::int64_t highest_reserved_ = 0;
  std::int64_t end_ = 0;  ///< of all addresses so far
  std::vector<Block> blocks_;
  std::vector<Place> unused_;  ///< of those, the ones that were joined to others
  std::array<Pool, 2> free_;
  std::vector<Spots> spots_;          ///< of all rows
  std::vector<std::uint32_t> spare_;  ///< of these, those of rows that were left empty
  std::vector<Place> left_;
};

}  // namespace llmcalc::memory
