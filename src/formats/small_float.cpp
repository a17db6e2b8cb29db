#include "formats/inner/small_float.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmcalc::formats {

namespace {

constexpr std::uint64_t bit(int position) { return std::uint64_t{1} << position; }

std::uint64_t infinity_code(const FloatFormat& format) {
  return (bit(format.exponent_bits) - 1) << format.fraction_bits;
}

std::uint64_t nan_code(const FloatFormat& format) {
  if (format.top == TopExponent::one_nan) return max_code(format) + 1;
  return infinity_code(format) | bit(format.fraction_bits - 1);  // quiet, as IEEE 754-2019 section 6.2.1 prefers
}

std::uint64_t overflow_code(const FloatFormat& format) {
  return format.overflow == BeyondRange::saturate ? max_code(format) : infinity_code(format);
}

/// The code of |value| > 0, finite. Rounding happens where the value counts in units of its last place: as a whole
/// number below 2^(fraction bits + 1), so that a carry out of the fraction moves into the exponent by itself.
std::uint64_t magnitude_code(const FloatFormat& format, double value) {
  const int exponent = std::max(std::ilogb(value), format.min_exponent());
  if (exponent > max_exponent(format)) return overflow_code(format);
  const double last_places = std::nearbyint(std::ldexp(value, format.fraction_bits - exponent));
  const auto biased = static_cast<std::uint64_t>(exponent + format.bias());
  const std::uint64_t code =
      (biased << format.fraction_bits) + static_cast<std::uint64_t>(last_places) - bit(format.fraction_bits);
  return code > max_code(format) ? overflow_code(format) : code;
}

}  // namespace

std::uint64_t max_code(const FloatFormat& format) {
  const std::uint64_t all_ones = bit(format.width() - 1) - 1;
  switch (format.top) {
    case TopExponent::special: return infinity_code(format) - 1;
    case TopExponent::one_nan: return all_ones - 1;
    case TopExponent::numbers: break;
  }
  return all_ones;
}

int max_exponent(const FloatFormat& format) {
  return static_cast<int>(max_code(format) >> format.fraction_bits) - format.bias();
}

std::uint64_t round_to_code(const FloatFormat& format, double value) {
  const std::uint64_t sign = std::signbit(value) ? bit(format.width() - 1) : 0;
  if (std::isnan(value)) return sign | nan_code(format);
  if (std::isinf(value)) return sign | overflow_code(format);
  if (value == 0.0) return sign;
  return sign | magnitude_code(format, std::abs(value));
}

double value_of_code(const FloatFormat& format, std::uint64_t code) {
  const std::uint64_t magnitude = code & (bit(format.width() - 1) - 1);
  const double sign = magnitude == code ? 1.0 : -1.0;
  if (magnitude > max_code(format)) {
    const bool infinite = format.top == TopExponent::special && magnitude == infinity_code(format);
    return sign * (infinite ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN());
  }
  const auto biased = static_cast<int>(magnitude >> format.fraction_bits);
  const auto fraction = static_cast<double>(magnitude & (bit(format.fraction_bits) - 1));
  const double hidden = biased == 0 ? 0.0 : std::ldexp(1.0, format.fraction_bits);
  return sign * std::ldexp(hidden + fraction, std::max(biased, 1) - format.bias() - format.fraction_bits);
}

}  // namespace llmcalc::formats
