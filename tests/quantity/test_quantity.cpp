#include "catch.hpp"
#include "llmcalc/quantity/quantity.hpp"

#include <limits>
#include <type_traits>

using namespace llmcalc::quantity;

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};

TEST_CASE("Quantities of different dimensions do not mix, and raw numbers do not sneak in", "[quantity]") {
  CHECK(Addable<Bytes, Bytes>);
  CHECK_FALSE(Addable<Bytes, Parameters>);
  CHECK_FALSE(Addable<Flops, FlopRate>);
  CHECK_FALSE(std::is_convertible_v<std::int64_t, Bytes>);
  CHECK_FALSE(std::is_constructible_v<Bytes, std::int64_t>);
}

TEST_CASE("GiB and GB are different amounts", "[quantity]") {
  CHECK(in_bytes(gib(80)) == 85'899'345'920);
  CHECK(in_gigabytes(gib(80)) == Approx(85.899).margin(0.001));
  CHECK(in_gib(bytes(80'000'000'000)) == Approx(74.506).margin(0.001));
}

TEST_CASE("Sums of bytes do not overflow silently", "[quantity]") {
  const auto most = bytes(std::numeric_limits<std::int64_t>::max());
  CHECK_THROWS_AS(most + bytes(1), Overflow);
  CHECK_THROWS_AS(most * 2, Overflow);
  CHECK_THROWS_AS(gib(std::int64_t{1} << 40), Overflow);
}

TEST_CASE("Work, rates and times combine as physics has it", "[quantity]") {
  CHECK(in_seconds(flops(6e15) / teraflops(2)) == Approx(3000));
  CHECK(in_flops(teraflops(312) * days(1)) == Approx(312e12 * 86400));
  CHECK(in_seconds(bytes(2'039'000'000'000) / gigabytes_per_second(2039)) == Approx(1));
  // Brown et al. 2020, table D.1: GPT-3 took 3.14e23 FLOP or 3.64e3 PF-days.
  CHECK(in_pflop_days(flops(3.14e23)) == Approx(3.64e3).epsilon(0.002));
  CHECK(in_flops(pflop_days(1)) == Approx(8.64e19));
}
