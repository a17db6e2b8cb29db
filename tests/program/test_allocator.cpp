// What tensors take beyond their own bytes, against a run of the allocator's own rules.

#include "catch.hpp"
#include "program/states.hpp"

#include <random>
#include <vector>

using namespace llmcalc;
using program::AllocatorSlack;
using quantity::bytes;
using quantity::in_bytes;
using quantity::mib;

namespace {

std::int64_t slack_of(quantity::Bytes tensor) { return in_bytes(AllocatorSlack(tensor, 1, 1).total()); }

/// Places tensors one after the other in segments of 20 MiB as c10/cuda/CUDACachingAllocator.cpp does, in a block of
/// what is left of a segment if that is no more than 1 MiB over; the mean that a tensor's block is larger than it.
double placed(const std::vector<std::int64_t>& sizes, int tensors) {
  std::mt19937 random(1);
  std::uniform_int_distribution<std::size_t> any(0, sizes.size() - 1);
  std::int64_t left = 0;
  std::int64_t slack = 0;
  for (int i = 0; i < tensors; ++i) {
    const std::int64_t size = sizes[any(random)];
    if (left < size) left = in_bytes(mib(20));
    left -= size;
    if (left > in_bytes(mib(1))) continue;
    slack += left;
    left = 0;
  }
  return static_cast<double>(slack) / tensors;
}

double expected(const std::vector<std::int64_t>& sizes) {
  AllocatorSlack sum;
  for (const std::int64_t size : sizes) sum.add(AllocatorSlack(bytes(size), 1, 1), 1);
  return static_cast<double>(in_bytes(sum.total())) / static_cast<double>(sizes.size());
}

std::vector<std::int64_t> multiples(std::int64_t granule, std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = first; i <= last; ++i) sizes.push_back(i * granule);
  return sizes;
}

}  // namespace

TEST_CASE("a large tensor has what is left of its segment unless that is more than 1 MiB") {
  CHECK(slack_of(bytes(50304 * 512 * 2)) == 7 * in_bytes(mib(1)) / 8);  // 49.125 MiB in a segment of 50
  CHECK(slack_of(bytes(50304 * 512 * 4)) == 0);                         // 98.25 MiB in one of 100
  CHECK(slack_of(mib(64)) == 0);
}

TEST_CASE("a small tensor is rounded up to 512 bytes") {
  CHECK(slack_of(bytes(1)) == 511);
  CHECK(slack_of(bytes(1024)) == 0);
}

TEST_CASE("tensors that share segments leave as much as the allocator's rules make them") {
  constexpr std::int64_t kibi = 1024;
  for (const auto& sizes : {multiples(64 * kibi, 17, 90), multiples(512 * kibi, 3, 12), multiples(1024 * kibi, 2, 6)}) {
    CHECK(expected(sizes) == Approx(placed(sizes, 200'000)).epsilon(0.15));
  }
}

TEST_CASE("tensors of multiples of 2 MiB leave nothing that is counted") {
  CHECK(expected(multiples(2 * 1024 * 1024, 1, 4)) == 0);
}

TEST_CASE("a rank has as many tensors of sharded states as its share is") {
  const auto whole = AllocatorSlack(bytes(50304 * 512 * 2), 8, 1).total();
  CHECK(AllocatorSlack(bytes(50304 * 512 * 2), 8, 4).total() == bytes(in_bytes(whole) / 4));
}
