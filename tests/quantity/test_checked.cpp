#include "catch.hpp"
#include "llmcalc/quantity/checked.hpp"

#include <limits>

using namespace llmcalc::quantity;

namespace {
constexpr auto largest = std::numeric_limits<std::int64_t>::max();
}

TEST_CASE("Checked arithmetic is exact up to the last integer and refuses the next", "[checked]") {
  CHECK(checked_add(largest - 1, 1) == largest);
  CHECK_THROWS_AS(checked_add(largest, 1), Overflow);
  CHECK(checked_subtract(-largest, 1) == std::numeric_limits<std::int64_t>::min());
  CHECK_THROWS_AS(checked_subtract(-largest, 2), Overflow);
  CHECK(checked_multiply(largest / 2, 2) == largest - 1);
  CHECK_THROWS_WITH(checked_multiply(largest, 2), "9223372036854775807 * 2 does not fit in 64 bits");
}

TEST_CASE("A product of many factors is checked at each of them", "[checked]") {
  CHECK(product(2, 3, 7) == 42);
  CHECK_THROWS_AS(product(3'000'000'000, 3'000'000'000, 3, 0), Overflow);
}

TEST_CASE("Divisions round up", "[checked]") {
  CHECK(ceil_divide(0, 64) == 0);
  CHECK(ceil_divide(64, 64) == 1);
  CHECK(ceil_divide(65, 64) == 2);
  CHECK(ceil_divide(largest, 2) == largest / 2 + 1);
  CHECK(ceil_to(50257, 128) == 50304);  // Megatron's padded GPT-2 vocabulary
}
