#include "memory/caching_allocator.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace llmcalc::memory {

using program::is_small;
using program::round_size;
using program::segment_size;

CachingAllocator::Place CachingAllocator::make(const Block& block) {
  if (unused_.empty()) {
    blocks_.push_back(block);
    return static_cast<Place>(blocks_.size() - 1);
  }
  const Place place = unused_.back();
  unused_.pop_back();
  blocks_[place] = block;
  return place;
}

/// The first at no higher address.
CachingAllocator::Spots::iterator CachingAllocator::spot_in(Spots& spots, std::int64_t address) {
  if (spots.empty() || address < spots.back().address) return spots.end();
  return std::ranges::lower_bound(spots, address, std::greater(), &Spot::address);
}

void CachingAllocator::list(Place place) {
  Block& block = blocks_[place];
  block.is_free = true;
  auto& free = pool(block.of_small);
  auto row = fitting(free, block.size);
  if (row == free.end() || row->size != block.size) {
    if (spare_.empty()) {
      spare_.push_back(static_cast<std::uint32_t>(spots_.size()));
      spots_.emplace_back();
    }
    row = free.insert(row, Row{block.size, spare_.back()});
    spare_.pop_back();
  }
  Spots& spots = spots_[row->spots];
  spots.insert(spot_in(spots, block.address), {block.address, place});
}

void CachingAllocator::unlist(Place place) {
  Block& block = blocks_[place];
  block.is_free = false;
  auto& free = pool(block.of_small);
  const auto row = fitting(free, block.size);
  Spots& spots = spots_[row->spots];
  spots.erase(spot_in(spots, block.address));
  if (spots.empty()) leave_empty(free, row);
}

CachingAllocator::Pool::iterator CachingAllocator::leave_empty(Pool& pool, Pool::iterator row) {
  spare_.push_back(row->spots);
  return pool.erase(row);
}

CachingAllocator::Place CachingAllocator::take_segment(std::int64_t block) {
  const std::int64_t size = segment_size(block);
  if (size > room_ - reserved_) give_back();
  reserved_ += size;
  highest_reserved_ = std::max(highest_reserved_, reserved_);
  const Place place = make({.address = end_, .size = size, .of_small = is_small(block)});
  end_ += size;
  return place;
}

/// Blocks without neighbours are whole segments (release_cached_blocks).
void CachingAllocator::give_back() {
  for (auto& free : free_) {
    for (auto row = free.begin(); row != free.end();) {
      Spots& spots = spots_[row->spots];
      std::erase_if(spots, [&](const Spot& spot) {
        const Block& block = blocks_[spot.place];
        const bool is_segment = block.before == nowhere && block.behind == nowhere;
        if (!is_segment) return false;
        reserved_ -= block.size;
        unused_.push_back(spot.place);
        return true;
      });
      row = spots.empty() ? leave_empty(free, row) : row + 1;
    }
  }
}

void CachingAllocator::split(Place place, std::int64_t size) {
  const Block whole = blocks_[place];
  const std::int64_t left = whole.size - size;
  if (!program::splits(size, left)) return;
  const Place rest = make({whole.address + size, left, place, whole.behind, false, whole.of_small});
  if (whole.behind != nowhere) blocks_[whole.behind].before = rest;
  blocks_[place].behind = rest;
  blocks_[place].size = size;
  list(rest);
}

CachingAllocator::Pool::iterator CachingAllocator::fitting(Pool& pool, std::int64_t size) {
  return std::ranges::lower_bound(pool, size, {}, &Row::size);
}

CachingAllocator::Place CachingAllocator::allocate(std::int64_t bytes) {
  if (bytes <= 0) return nowhere;
  const std::int64_t size = round_size(bytes);
  auto& free = pool(is_small(size));
  const auto found = fitting(free, size);
  Place place = nowhere;
  if (found == free.end()) {
    place = take_segment(size);
  } else {
    Spots& spots = spots_[found->spots];
    place = spots.back().place;
    blocks_[place].is_free = false;
    spots.pop_back();
    if (spots.empty()) leave_empty(free, found);
  }
  split(place, size);
  allocated_ += blocks_[place].size;
  highest_allocated_ = std::max(highest_allocated_, allocated_);
  return place;
}

void CachingAllocator::touch(std::int64_t bytes, std::int64_t largest) {
  if (bytes <= 0) return;
  std::vector<Place> ahead;
  for (; largest > 0 && largest < bytes; bytes -= largest) ahead.push_back(allocate(largest));
  const std::int64_t size = round_size(bytes);
  auto& last = pool(is_small(size));
  if (fitting(last, size) == last.end()) list(take_segment(size));
  highest_allocated_ = std::max(highest_allocated_, allocated_ + size);
  for (; !ahead.empty(); ahead.pop_back()) free(ahead.back());
}

/// The second block becomes a part of the first.
void CachingAllocator::join(Place first, Place second) {
  const Block& gone = blocks_[second];
  blocks_[first].size += gone.size;
  blocks_[first].behind = gone.behind;
  if (gone.behind != nowhere) blocks_[gone.behind].before = first;
  unused_.push_back(second);
}

void CachingAllocator::free(Place place, std::int64_t) {
  if (place == nowhere) return;
  allocated_ -= blocks_[place].size;
  const Place behind = blocks_[place].behind;
  if (behind != nowhere && blocks_[behind].is_free) {
    unlist(behind);
    join(place, behind);
  }
  const Place before = blocks_[place].before;
  if (before != nowhere && blocks_[before].is_free) {
    unlist(before);
    join(before, place);
    place = before;
  }
  list(place);
}

void CachingAllocator::end_left(std::size_t from) {
  for (std::size_t i = from; i < left_.size(); ++i) free(left_[i]);
  left_.resize(from);
}

}  // namespace llmcalc::memory
