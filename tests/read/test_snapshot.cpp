// Snapshots of PyTorch's memory: a dictionary of the form that torch/cuda/_memory_viz.py reads, pickled by Python in
// the protocols that torch has written.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/settings.hpp"

#include <fstream>
#include <iterator>
#include <string>

using namespace llmcalc;

namespace {

constexpr std::int64_t mebi = std::int64_t{1} << 20;

std::string snapshot_file(const std::string& name) {
  std::ifstream file(std::string(LLMCALC_TEST_DATA) + "/fuzz/corpus/snapshot/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

/// 8 MiB and 10 more, which are given back: requested first, then free.
TEST_CASE("A recorded snapshot says what was allocated and reserved at the most") {
  for (const char* const name : {"recorded-2", "recorded-4", "recorded-5"}) {
    CAPTURE(name);
    const auto bytes = snapshot_file(name);
    CHECK(read::is_memory_snapshot(bytes));
    const auto all = read::parse_memory_snapshot(bytes, name);
    REQUIRE(all.size() == 1);
    CHECK(all[0].device == 0);
    CHECK(all[0].is_recorded);
    CHECK(all[0].allocated == 8 * mebi);
    CHECK(all[0].most_allocated == 18 * mebi);
    CHECK(all[0].reserved == 20 * mebi);
    CHECK(all[0].most_reserved == 20 * mebi);
  }
}

TEST_CASE("A snapshot without a history says what was held, of each accelerator") {
  const auto all = read::parse_memory_snapshot(snapshot_file("held"), "held");
  REQUIRE(all.size() == 2);
  CHECK(!all[1].is_recorded);
  CHECK(all[1].most_allocated == mebi);
  CHECK(all[1].most_reserved == 2 * mebi);
}

TEST_CASE("What is no snapshot of memory is refused with its byte") {
  CHECK(!read::is_memory_snapshot("\x80\x04}."));
  CHECK_THROWS_AS(read::parse_memory_snapshot("\x80\x04K\x01.", "x"), quantity::BadInput);
  const std::string whole = snapshot_file("recorded-4");
  CHECK_THROWS_AS(read::parse_memory_snapshot(whole.substr(0, whole.size() - 9), "x"), quantity::BadInput);
  CHECK_THROWS_AS(read::parse_memory_snapshot("\x80\x04"
                                              "cos\nsystem\n.",
                                              "x"),
                  quantity::BadInput);
}
