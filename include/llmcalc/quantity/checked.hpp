// Integer arithmetic in which no overflow is silent.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace llmcalc::quantity {

/// Thrown when an exact count leaves the range of a signed 64-bit integer (about 9.2e18).
class Overflow : public std::overflow_error {
 public:
  using std::overflow_error::overflow_error;
};

[[noreturn]] void throw_overflow(const char* operation, std::int64_t a, std::int64_t b);

constexpr std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw_overflow("+", a, b);
  return sum;
}

constexpr std::int64_t checked_subtract(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) throw_overflow("-", a, b);
  return difference;
}

constexpr std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw_overflow("*", a, b);
  return product;
}

/// The product of any number of factors: product(tokens, hidden, 2).
template <class... Factors>
constexpr std::int64_t product(std::int64_t first, Factors... rest) {
  std::int64_t result = first;
  ((result = checked_multiply(result, static_cast<std::int64_t>(rest))), ...);
  return result;
}

/// \pre divisor > 0 and value >= 0
constexpr std::int64_t ceil_divide(std::int64_t value, std::int64_t divisor) {
  return value / divisor + (value % divisor != 0 ? 1 : 0);
}

/// The smallest multiple of `unit` that is not below `value`.
constexpr std::int64_t ceil_to(std::int64_t value, std::int64_t unit) {
  return checked_multiply(ceil_divide(value, unit), unit);
}

}  // namespace llmcalc::quantity
