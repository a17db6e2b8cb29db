#include "catch.hpp"
#include "quantity/elementary.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace llmcalc::quantity {

namespace {

/// By how many units of a double's last place a result misses what the library says in the wider type of x86-64, whose
/// own error is a thousandth of one. Where long double is double, one unit more is the library's.
double units_off(double value, long double exact) {
  const double nearest = std::abs(static_cast<double>(exact));
  const long double unit = std::nextafter(nearest, std::numeric_limits<double>::infinity()) - nearest;
  return static_cast<double>(std::abs(value - exact) / unit);
}

constexpr double allowed = std::numeric_limits<long double>::digits > 60 ? 0.501 : 1.5;

/// Numbers over the given range of powers of two, none of them round.
template <class Check>
void for_numbers(int lowest, int highest, const Check& check) {
  std::uint64_t bits = 1;
  for (int n = 0; n < 4000; ++n) {
    bits = bits * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX
    const double mantissa = 1.0 + static_cast<double>(bits >> 12) * 0x1p-52;
    check(std::ldexp(mantissa, lowest + n % (highest - lowest)));
  }
}

}  // namespace

TEST_CASE("exponentials, logarithms and powers are the nearest double but for ties") {
  double worst = 0.0;
  const auto see = [&](double value, long double exact) { worst = std::max(worst, units_off(value, exact)); };
  for_numbers(-30, 9, [&](double x) {
    see(exp(x), std::exp(static_cast<long double>(x)));
    see(exp(-x), std::exp(-static_cast<long double>(x)));
    see(exp2(x), std::exp2(static_cast<long double>(x)));
    see(expm1(x), std::expm1(static_cast<long double>(x)));
    see(expm1(-x), std::expm1(-static_cast<long double>(x)));
    see(log1p(x), std::log1p(static_cast<long double>(x)));
  });
  for_numbers(-300, 300, [&](double x) {
    see(log(x), std::log(static_cast<long double>(x)));
    see(log2(x), std::log2(static_cast<long double>(x)));
    see(log10(x), std::log10(static_cast<long double>(x)));
    see(cbrt(x), std::cbrt(static_cast<long double>(x)));
    for (const double y : {0.34, -0.125, 2.0, -3.0}) see(pow(x, y), std::pow(static_cast<long double>(x), y));
  });
  CHECK(worst < allowed);
}

TEST_CASE("what is exact is exact, and what has no value is what the library says") {
  CHECK(pow(10.0, 2.0) == 100.0);
  CHECK(pow(10.0, -3.0) == 0.001);
  CHECK(log10(1000.0) == 3.0);
  CHECK(log2(0x1p-40) == -40.0);
  CHECK(cbrt(-8.0) == -2.0);
  CHECK(exp(0.0) == 1.0);
  CHECK(exp(-1e9) == 0.0);
  CHECK(pow(0.5, 1e9) == 0.0);
  CHECK(std::isinf(exp(1e9)));
  CHECK(std::isinf(log(0.0)));
  CHECK(pow(0.0, 0.5) == 0.0);
  CHECK(std::isnan(log(-1.0)));
  CHECK(std::isnan(exp(std::numeric_limits<double>::quiet_NaN())));
}

}  // namespace llmcalc::quantity
