#include "formats/number_format.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace llmcalc::formats {

namespace {

/// Meaning of the codes with the highest exponent.
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

enum class EncodingFamily {
  floating,
  integer,      ///< two's complement
  codebook,     ///< nf4
  scaled_float  ///< a floating-point element under the power-of-two scale of its block (MX)
};

struct Encoding {
  Dtype dtype;
  EncodingFamily family;
  FloatFormat element{};  ///< of floating and scaled_float
};

/// The lowest and highest finite value.
struct FiniteRange {
  double lowest;
  double highest;
};

constexpr std::uint64_t bit(int position) { return std::uint64_t{1} << position; }

std::uint64_t infinity_code(const FloatFormat& format) {
  return (bit(format.exponent_bits) - 1) << format.fraction_bits;
}

/// The code of the largest finite number.
std::uint64_t max_code(const FloatFormat& format) {
  const std::uint64_t all_ones = bit(format.width() - 1) - 1;
  switch (format.top) {
    case TopExponent::special: return infinity_code(format) - 1;
    case TopExponent::one_nan: return all_ones - 1;
    case TopExponent::numbers: break;
  }
  return all_ones;
}

/// The exponent of the largest finite number, called emax.
int max_exponent(const FloatFormat& format) {
  return static_cast<int>(max_code(format) >> format.fraction_bits) - format.bias();
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

/// The code of the nearest number, ties to even. \pre the format has NaN where `value` is one
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

constexpr FloatFormat ieee(int exponent_bits, int fraction_bits) {
  return {exponent_bits, fraction_bits, TopExponent::special, BeyondRange::to_infinity};
}
constexpr FloatFormat e4m3{4, 3, TopExponent::one_nan, BeyondRange::saturate};
constexpr FloatFormat e5m2{5, 2, TopExponent::special, BeyondRange::saturate};
constexpr FloatFormat e2m1{2, 1, TopExponent::numbers, BeyondRange::saturate};

constexpr Encoding encodings[] = {
#include "formats/encodings.inc"
};

constexpr std::array<double, 16> codebooks[] = {
#include "formats/codebooks.inc"
};
constexpr const auto& normal_float = codebooks[0];

std::int64_t integer_max(Dtype dtype) { return (std::int64_t{1} << (facts(dtype).bits - 1)) - 1; }

std::uint64_t integer_code(Dtype dtype, double value) {
  const auto max = static_cast<double>(integer_max(dtype));
  const auto rounded = static_cast<std::int64_t>(std::clamp(std::nearbyint(value), -max - 1.0, max));
  const std::uint64_t mask = (std::uint64_t{1} << facts(dtype).bits) - 1;
  return static_cast<std::uint64_t>(rounded) & mask;
}

double integer_value(Dtype dtype, std::uint64_t code) {
  const auto max = integer_max(dtype);
  const auto value = static_cast<std::int64_t>(code);
  return static_cast<double>(value > max ? value - 2 * (max + 1) : value);
}

std::uint64_t codebook_code(double value) {
  // Far beyond the ends all entries are as far from the value as a double can tell.
  const double within = std::clamp(value, normal_float.front(), normal_float.back());
  const auto nearest =
      std::ranges::min_element(normal_float, {}, [within](double entry) { return std::abs(entry - within); });
  return static_cast<std::uint64_t>(nearest - normal_float.begin());
}

/// \throws quantity::BadInput when one number has no bits of its own in this format
const Encoding& encoding_of(Dtype dtype) {
  const auto found = std::ranges::find(encodings, dtype, &Encoding::dtype);
  if (found != std::end(encodings)) return *found;
  const auto name_of = [](const Encoding& encoding) { return facts(encoding.dtype).name; };
  throw quantity::BadInput(
      "dtype", fmt::format("'{}' is a layout of whole tensors: one number has no bits in it", facts(dtype).name),
      "try one of " + quantity::joined(encodings, ", ", name_of));
}

/// The code of the nearest value under a scale of 1.
/// \throws quantity::BadInput for a NaN where the format has none
std::uint64_t nearest_code(const Encoding& encoding, double value) {
  const bool is_float = encoding.family == EncodingFamily::floating || encoding.family == EncodingFamily::scaled_float;
  if (is_float) return round_to_code(encoding.element, value);
  if (std::isnan(value)) {
    throw quantity::BadInput("--value", fmt::format("'nan' has no code in {}", facts(encoding.dtype).name),
                             "give a number");
  }
  return encoding.family == EncodingFamily::integer ? integer_code(encoding.dtype, value) : codebook_code(value);
}

double value_of_code(const Encoding& encoding, std::uint64_t code) {
  if (encoding.family == EncodingFamily::integer) return integer_value(encoding.dtype, code);
  if (encoding.family == EncodingFamily::codebook) return normal_float.at(code);
  return value_of_code(encoding.element, code);
}

FiniteRange finite_range(const Encoding& encoding) {
  if (encoding.family == EncodingFamily::codebook) return {normal_float.front(), normal_float.back()};
  if (encoding.family == EncodingFamily::integer) {
    const auto max = static_cast<double>(integer_max(encoding.dtype));
    return {-max - 1.0, max};
  }
  const double max = value_of_code(encoding.element, max_code(encoding.element));
  return {-max, max};
}

/// Fields of these widths, from the left.
std::string grouped_bits(std::uint64_t code, std::span<const int> widths) {
  int position = 0;
  for (const int width : widths) position += width;
  std::string text;
  for (const int width : widths) {
    position -= width;
    const std::uint64_t field = (code >> position) & ((std::uint64_t{1} << width) - 1);
    text += fmt::format("{}{:0{}b}", text.empty() ? "" : "|", field, width);
  }
  return text;
}

/// "0|10000000|1001001": the fields of a code.
std::string bits_of(const Encoding& encoding, std::uint64_t code) {
  if (encoding.family == EncodingFamily::codebook) return grouped_bits(code, std::array{facts(encoding.dtype).bits});
  if (encoding.family == EncodingFamily::integer)
    return grouped_bits(code, std::array{1, facts(encoding.dtype).bits - 1});
  return grouped_bits(code, std::array{1, encoding.element.exponent_bits, encoding.element.fraction_bits});
}

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

/// Range of blocks with scales between these two.
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

std::vector<Dtype> encodable_dtypes() { return quantity::mapped(encodings, &Encoding::dtype); }

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

namespace {

/// Symmetric, as in the paper: the most negative code of two's complement stays unused.
std::int64_t largest_code(Dtype dtype) {
  if (dtype != Dtype::int8 && dtype != Dtype::int4) {
    throw quantity::BadInput("dtype", fmt::format("'{}' is no integer to quantize to", facts(dtype).name),
                             "take int8 or int4");
  }
  return integer_max(dtype);
}

void check_numbers(std::span<const double> numbers) {
  constexpr double limit = std::numeric_limits<float>::max();
  if (numbers.empty())
    throw quantity::BadInput("--quantize", "there is nothing to quantize", "give at least one number");
  for (const double x : numbers) {
    if (std::abs(x) <= limit) continue;
    throw quantity::BadInput("--quantize", fmt::format("'{}' is no number that a tensor holds", x),
                             "give finite numbers up to 3.4e38");
  }
}

/// \param lowest  code, the largest being `largest`
void set_scale(Quantization& q, std::span<const double> numbers, double lowest, double largest) {
  const auto [low, high] = std::ranges::minmax(numbers);
  const bool is_symmetric = q.scheme == QuantizationScheme::absmax;
  const double range =
      is_symmetric ? 2.0 * std::max(std::abs(low), std::abs(high)) : std::max(high, 0.0) - std::min(low, 0.0);
  // Any scale brings nothing but zeros back; one that underflows to zero divides nothing.
  q.scale = range == 0.0 ? 1.0 : std::max(range / (largest - lowest), std::numeric_limits<double>::min());
  if (!is_symmetric) q.zero_point = std::llround(lowest - std::min(low, 0.0) / q.scale);
}

std::string_view source_of(QuantizationScheme scheme) {
  switch (scheme) {
    case QuantizationScheme::absmax:
    case QuantizationScheme::zero_point: break;
    case QuantizationScheme::affine: return "Jacob et al. 2018, arXiv:1712.05877, equations 1 and 2";
  }
  return "Dettmers et al. 2022 (LLM.int8()), arXiv:2208.07339, section 2";
}

}  // namespace

Quantization quantize(std::span<const double> numbers, QuantizationScheme scheme, Dtype dtype) {
  const std::int64_t largest = largest_code(dtype);
  check_numbers(numbers);
  Quantization q;
  q.scheme = scheme;
  q.dtype = dtype;
  q.source = source_of(scheme);
  const std::int64_t lowest = scheme == QuantizationScheme::affine ? -largest - 1 : -largest;
  set_scale(q, numbers, static_cast<double>(lowest), static_cast<double>(largest));
  double square_error = 0.0;
  for (const double x : numbers) {
    const std::int64_t code =
        std::clamp(static_cast<std::int64_t>(std::nearbyint(x / q.scale)) + q.zero_point, lowest, largest);
    const double back = q.scale * static_cast<double>(code - q.zero_point);
    q.codes.push_back(code);
    q.dequantized.push_back(back);
    q.max_error = std::max(q.max_error, std::abs(back - x));
    square_error += (back - x) * (back - x);
  }
  q.mean_square_error = square_error / static_cast<double>(numbers.size());
  return q;
}

}  // namespace llmcalc::formats
