#include "formats/inner/encoding.hpp"

#include "llmcalc/quantity/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

namespace llmcalc::formats {

namespace {

constexpr FloatFormat ieee(int exponent_bits, int fraction_bits) {
  return {exponent_bits, fraction_bits, TopExponent::special, BeyondRange::to_infinity};
}
constexpr FloatFormat e4m3{4, 3, TopExponent::one_nan, BeyondRange::saturate};
constexpr FloatFormat e5m2{5, 2, TopExponent::special, BeyondRange::saturate};
constexpr FloatFormat e2m1{2, 1, TopExponent::numbers, BeyondRange::saturate};

constexpr std::array encodings{
    Encoding{Dtype::fp64, EncodingFamily::floating, ieee(11, 52)},
    Encoding{Dtype::fp32, EncodingFamily::floating, ieee(8, 23)},
    Encoding{Dtype::tf32, EncodingFamily::floating, ieee(8, 10)},
    Encoding{Dtype::fp16, EncodingFamily::floating, ieee(5, 10)},
    Encoding{Dtype::bf16, EncodingFamily::floating, ieee(8, 7)},
    Encoding{Dtype::fp8_e4m3, EncodingFamily::floating, e4m3},
    Encoding{Dtype::fp8_e5m2, EncodingFamily::floating, e5m2},
    Encoding{Dtype::int8, EncodingFamily::integer, {}},
    Encoding{Dtype::int4, EncodingFamily::integer, {}},
    Encoding{Dtype::nf4, EncodingFamily::codebook, {}},
    Encoding{Dtype::mxfp8, EncodingFamily::scaled_float, e4m3},
    Encoding{Dtype::mxfp4, EncodingFamily::scaled_float, e2m1},
};

/// The 16 values of NormalFloat, quantiles of the normal distribution (Dettmers et al. 2023, arXiv:2305.14314,
/// appendix E).
constexpr std::array normal_float{-1.0,
                                  -0.6961928009986877,
                                  -0.5250730514526367,
                                  -0.39491748809814453,
                                  -0.28444138169288635,
                                  -0.18477343022823334,
                                  -0.09105003625154495,
                                  0.0,
                                  0.07958029955625534,
                                  0.16093020141124725,
                                  0.24611230194568634,
                                  0.33791524171829224,
                                  0.44070982933044434,
                                  0.5626170039176941,
                                  0.7229568362236023,
                                  1.0};

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

}  // namespace

std::span<const Encoding> all_encodings() { return encodings; }

const Encoding& encoding_of(Dtype dtype) {
  const auto found = std::ranges::find(encodings, dtype, &Encoding::dtype);
  if (found != encodings.end()) return *found;
  std::vector<std::string_view> names;
  for (const auto& encoding : encodings) names.push_back(facts(encoding.dtype).name);
  throw quantity::BadInput(
      "dtype", fmt::format("'{}' is a layout of whole tensors: one number has no bits in it", facts(dtype).name),
      fmt::format("try one of {}", fmt::join(names, ", ")));
}

std::uint64_t nearest_code(const Encoding& encoding, double value) {
  const bool is_float = encoding.family == EncodingFamily::floating || encoding.family == EncodingFamily::scaled_float;
  if (is_float) return round_to_code(encoding.element, value);
  if (std::isnan(value)) {
    throw quantity::BadInput("value", fmt::format("'nan' has no code in {}", facts(encoding.dtype).name),
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

std::string bits_of(const Encoding& encoding, std::uint64_t code) {
  if (encoding.family == EncodingFamily::codebook) return grouped_bits(code, std::array{facts(encoding.dtype).bits});
  if (encoding.family == EncodingFamily::integer)
    return grouped_bits(code, std::array{1, facts(encoding.dtype).bits - 1});
  return grouped_bits(code, std::array{1, encoding.element.exponent_bits, encoding.element.fraction_bits});
}

}  // namespace llmcalc::formats
