// Binary floating-point formats of any width up to 64 bits, as integers hold them.
#pragma once

#include <cstdint>

namespace llmcalc::formats {

/// What the codes with the highest exponent mean.
enum class TopExponent {
  special,  ///< infinity and NaNs, as in IEEE 754
  one_nan,  ///< numbers, but for the code of all ones, which is NaN (OFP8 E4M3)
  numbers   ///< numbers throughout (OCP MX E2M1)
};

enum class BeyondRange { to_infinity, saturate };

struct FloatFormat {
  int exponent_bits = 0;
  int fraction_bits = 0;
  TopExponent top = TopExponent::special;
  BeyondRange overflow = BeyondRange::to_infinity;

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr int min_exponent() const { return 1 - bias(); }
  constexpr int width() const { return 1 + exponent_bits + fraction_bits; }
};

/// The code of the nearest number, ties to even. \pre the format has NaN where `value` is one
std::uint64_t round_to_code(const FloatFormat& format, double value);

double value_of_code(const FloatFormat& format, std::uint64_t code);

/// The code of the largest finite number.
std::uint64_t max_code(const FloatFormat& format);

/// The exponent of the largest finite number, called emax.
int max_exponent(const FloatFormat& format);

}  // namespace llmcalc::formats
