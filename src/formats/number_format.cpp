#include "formats/number_format.hpp"

#include "formats/inner/encoding.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace llmcalc::formats {

namespace {

// E8M0: a power of two from 2^-127 to 2^127, and one code for NaN (OCP MX 1.0, section 5.4.1).
constexpr int e8m0_bias = 127;
constexpr std::uint64_t e8m0_nan = 255;

/// The exponent of the scale that brings |value| up to the element's largest power of two.
int shared_exponent(const FloatFormat& element, double value) {
  if (value == 0.0) return -e8m0_bias;
  if (!std::isfinite(value)) return e8m0_bias;
  return std::clamp(std::ilogb(value) - max_exponent(element), -e8m0_bias, e8m0_bias);
}

void encode_scaled(const Encoding& encoding, EncodedNumber& number) {
  constexpr std::array scale_width{8};
  if (std::isnan(number.given)) {
    number.scale = number.stored = number.given;
    number.scale_bits = grouped_bits(e8m0_nan, scale_width);
    return;
  }
  const int exponent = shared_exponent(encoding.element, number.given);
  number.scale = std::ldexp(1.0, exponent);
  number.scale_bits = grouped_bits(static_cast<std::uint64_t>(exponent + e8m0_bias), scale_width);
  number.code = nearest_code(encoding, std::ldexp(number.given, -exponent));
  number.stored = std::ldexp(value_of_code(encoding, number.code), exponent);
}

/// What blocks with scales between these two can hold.
NumberRange range_under_scales(const Encoding& encoding, double smallest, double largest) {
  const auto& element = encoding.element;
  const auto finite = finite_range(encoding);
  NumberRange range;
  range.dtype = encoding.dtype;
  range.source = facts(encoding.dtype).source;
  range.lowest = finite.lowest * largest;
  range.max = finite.highest * largest;
  if (encoding.family == EncodingFamily::integer || encoding.family == EncodingFamily::codebook) return range;
  range.min_normal = std::ldexp(smallest, element.min_exponent());
  range.min_subnormal = value_of_code(element, 1) * smallest;
  range.epsilon = std::ldexp(1.0, -element.fraction_bits);
  range.has_infinity = element.top == TopExponent::special;
  range.has_nan = element.top != TopExponent::numbers || encoding.family == EncodingFamily::scaled_float;
  return range;
}

std::string_view remark_on(const EncodedNumber& number, const NumberRange& range) {
  if (std::isnan(number.given)) return {};
  if (std::isinf(number.stored)) return std::isinf(number.given) ? "" : "overflowed to infinity";
  if (number.given > range.max || number.given < range.lowest) return "clipped to the end of the range";
  if (number.stored == 0.0) return number.given == 0.0 ? "" : "rounded to zero";
  if (range.min_normal && std::abs(number.stored) < *range.min_normal) return "subnormal";
  return {};
}

}  // namespace

std::vector<Dtype> encodable_dtypes() {
  std::vector<Dtype> encodable;
  for (const auto& encoding : all_encodings()) encodable.push_back(encoding.dtype);
  return encodable;
}

double decode(Dtype dtype, std::uint64_t code) { return value_of_code(encoding_of(dtype), code); }

EncodedNumber encode(Dtype dtype, double value) {
  const auto& encoding = encoding_of(dtype);
  EncodedNumber number;
  number.dtype = dtype;
  number.given = value;
  if (encoding.family == EncodingFamily::scaled_float) {
    encode_scaled(encoding, number);
  } else {
    number.code = nearest_code(encoding, value);
    number.stored = value_of_code(encoding, number.code);
  }
  number.bits = bits_of(encoding, number.code);
  if (!std::isnan(value) && number.stored != value) {
    number.absolute_error = std::abs(number.stored - value);
    if (value != 0.0) number.relative_error = number.absolute_error / std::abs(value);
  }
  const double scale = number.scale.value_or(1.0);
  number.remark = remark_on(number, range_under_scales(encoding, scale, scale));
  return number;
}

NumberRange number_range(Dtype dtype) {
  const auto& encoding = encoding_of(dtype);
  if (encoding.family != EncodingFamily::scaled_float) return range_under_scales(encoding, 1.0, 1.0);
  return range_under_scales(encoding, std::ldexp(1.0, -e8m0_bias), std::ldexp(1.0, e8m0_bias));
}

}  // namespace llmcalc::formats
