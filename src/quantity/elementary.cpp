// Series over sums of two doubles (Dekker 1971, doi:10.1007/BF01397083; Knuth, The Art of Computer Programming, volume
// 2, section 4.2.2), rounded once at the end: they are within 0.5001 units of the last place, so that all but one in
// some thousands are the nearest double.

#include "quantity/elementary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <span>

namespace llmcalc::quantity {

namespace {

/// A number as a double and what that lacks of it.
struct Pair {
  double high = 0.0;
  double low = 0.0;
};

constexpr Pair sum(double a, double b) {
  const double high = a + b;
  const double of_b = high - a;
  return {high, (a - (high - of_b)) + (b - of_b)};
}

constexpr Pair product(double a, double b) {
  constexpr double split = 0x1p27 + 1.0;
  const double a_high = split * a - (split * a - a);
  const double b_high = split * b - (split * b - b);
  const double a_low = a - a_high;
  const double b_low = b - b_high;
  const double high = a * b;
  return {high, ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

constexpr Pair operator+(Pair a, Pair b) {
  const Pair high = sum(a.high, b.high);
  return sum(high.high, high.low + (a.low + b.low));
}

constexpr Pair operator-(Pair a) { return {-a.high, -a.low}; }

constexpr Pair operator*(Pair a, Pair b) {
  const Pair high = product(a.high, b.high);
  return sum(high.high, high.low + (a.high * b.low + a.low * b.high));
}

constexpr Pair operator/(Pair a, Pair b) {
  const double first = a.high / b.high;
  const Pair rest = a + -(b * Pair{first});
  const double second = rest.high / b.high;
  const Pair last = rest + -(b * Pair{second});
  return sum(first, second) + Pair{last.high / b.high};
}

constexpr double rounded(Pair x) { return x.high + x.low; }

constexpr std::size_t exact_terms = 12;

/// 1 / n!
constexpr auto inverse_factorials = [] {
  std::array<Pair, exact_terms> terms{Pair{1.0}};
  for (std::size_t n = 1; n < exact_terms; ++n) terms[n] = terms[n - 1] / Pair{static_cast<double>(n)};
  return terms;
}();

/// Coefficients of the argument's square in the series of artanh: 1 / (2n + 1).
constexpr auto odd_inverses = [] {
  std::array<Pair, exact_terms> terms{};
  for (std::size_t n = 0; n < exact_terms; ++n) terms[n] = Pair{1.0} / Pair{static_cast<double>(2 * n + 1)};
  return terms;
}();

/// \pre what follows the last term is below 2^-110 of the sum, beside which `tail` is enough of a number
constexpr Pair series(std::span<const Pair> terms, Pair x, double tail) {
  Pair value{tail};
  for (std::size_t n = terms.size(); n-- > 0;) value = value * x + terms[n];
  return value;
}

/// 2 artanh(numerator / denominator), of a quotient below 0.34 (Abramowitz and Stegun 1964, 4.6.33).
constexpr Pair artanh_twice(Pair numerator, Pair denominator) {
  const Pair s = numerator / denominator;
  const Pair square = s * s;
  double tail = 0.0;
  for (int n = 24; n >= static_cast<int>(exact_terms); --n) tail = tail * square.high + 1.0 / (2.0 * n + 1.0);
  return s * Pair{2.0} * series(odd_inverses, square, tail);
}

/// log 2 = 2 artanh(1 / 3)
constexpr Pair log_two = artanh_twice({1.0}, {3.0});

/// log x = e log 2 + 2 artanh((m - 1) / (m + 1)) of x = m 2^e, m about 1 (4.1.27 there).
Pair log_of(double x) {
  int exponent = 0;
  double fraction = std::frexp(x, &exponent);
  if (fraction < std::numbers::sqrt2 / 2.0) {
    fraction *= 2.0;
    --exponent;
  }
  return log_two * Pair{static_cast<double>(exponent)} + artanh_twice({fraction - 1.0}, sum(fraction, 1.0));
}

/// A value and how often it is to be doubled.
struct Scaled {
  Pair value;
  int doublings = 0;
};

/// Beyond it a power of e is infinite or zero.
constexpr double largest_exponent = 800.0;

constexpr double small_argument = 0x1p-5;
constexpr std::size_t leading_terms = 4;

/// Tail of e^r behind its leading terms for a small r, where doubles do: 2^-19 of e^r - 1 and less.
double small_tail(double r) {
  double tail = 0.0;
  for (std::size_t n = exact_terms; n-- > leading_terms;) tail = tail * r + inverse_factorials[n].high;
  return tail;
}

/// Exponential of x = k log 2 + r: e^r by its series.
Scaled exp_of(Pair x) {
  if (std::abs(x.high) < small_argument) {
    return {series(std::span(inverse_factorials).first(leading_terms), x, small_tail(x.high))};
  }
  x.high = std::clamp(x.high, -largest_exponent, largest_exponent);
  const double doublings = std::nearbyint(x.high / log_two.high);
  const Pair rest = x + -(log_two * Pair{doublings});
  double tail = 0.0;
  double factor = inverse_factorials.back().high / static_cast<double>(exact_terms);
  for (std::size_t n = exact_terms; n < 22; ++n) {
    tail += factor;
    factor *= rest.high / static_cast<double>(n + 1);
  }
  return {series(inverse_factorials, rest, tail), static_cast<int>(doublings)};
}

double rounded(const Scaled& power) {
  const double value = rounded(power.value);
  return power.doublings == 0 ? value : std::ldexp(value, power.doublings);
}

/// Numbers for which the series stand; of others, zero and infinity among them, the library's answers are exact.
bool is_regular(double x) { return x > 0.0 && std::isfinite(x); }

}  // namespace

double exp(double x) { return std::isfinite(x) ? rounded(exp_of({x})) : std::exp(x); }

double exp2(double x) { return std::isfinite(x) ? rounded(exp_of(log_two * Pair{x})) : std::exp2(x); }

double expm1(double x) {
  if (!std::isfinite(x)) return std::expm1(x);
  if (std::abs(x) < std::numeric_limits<double>::epsilon()) return x;
  const Scaled power = exp_of({x});
  if (power.doublings == 0) return rounded(power.value + Pair{-1.0});
  const Pair whole{std::ldexp(power.value.high, power.doublings), std::ldexp(power.value.low, power.doublings)};
  return std::isfinite(whole.high) ? rounded(whole + Pair{-1.0}) : whole.high;
}

double log(double x) { return is_regular(x) ? rounded(log_of(x)) : std::log(x); }

double log2(double x) { return is_regular(x) ? rounded(log_of(x) / log_two) : std::log2(x); }

double log10(double x) { return is_regular(x) ? rounded(log_of(x) / log_of(10.0)) : std::log10(x); }

double log1p(double x) {
  const Pair whole = sum(1.0, x);
  if (!is_regular(whole.high)) return std::log1p(x);
  return whole.low == x ? x : rounded(log_of(whole.high) + Pair{whole.low} / Pair{whole.high});
}

double pow(double x, double y) {
  if (!is_regular(x) || !std::isfinite(y) || y == 0.0) return std::pow(x, y);
  return rounded(exp_of(log_of(x) * Pair{y}));
}

/// Halley's iteration, which triples the digits of a guess that is right to a tenth (Traub 1964, Iterative methods for
/// the solution of equations, section 5.2), and one step of Newton's by the whole cube.
double cbrt(double x) {
  if (x < 0.0) return -cbrt(-x);
  if (!is_regular(x)) return std::cbrt(x);
  int exponent = 0;
  double fraction = std::frexp(x, &exponent);
  for (; exponent % 3 != 0; ++exponent) fraction /= 2.0;
  double root = 0.44 + 0.58 * fraction;
  for (int n = 0; n < 3; ++n) {
    const double cube = root * root * root;
    root *= (cube + 2.0 * fraction) / (2.0 * cube + fraction);
  }
  const Pair above = product(root, root) * Pair{root} + Pair{-fraction};
  return std::ldexp(root - above.high / (3.0 * root * root), exponent / 3);
}

}  // namespace llmcalc::quantity
