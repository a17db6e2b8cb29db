#include "formats/quantization.hpp"

#include "llmcalc/quantity/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmcalc::formats {

namespace {

/// Symmetric, as in the paper: the most negative code of two's complement stays unused.
std::int64_t largest_code(Dtype dtype) {
  if (dtype != Dtype::int8 && dtype != Dtype::int4) {
    throw quantity::BadInput("dtype", fmt::format("'{}' is no integer to quantize to", facts(dtype).name),
                             "take int8 or int4");
  }
  return (std::int64_t{1} << (facts(dtype).bits - 1)) - 1;
}

void check_numbers(std::span<const double> numbers) {
  constexpr double limit = std::numeric_limits<float>::max();
  if (numbers.empty()) throw quantity::BadInput("values", "there is nothing to quantize", "give at least one number");
  for (const double x : numbers) {
    if (std::abs(x) <= limit) continue;
    throw quantity::BadInput("values", fmt::format("'{}' is no number that a tensor holds", x),
                             "give finite numbers up to 3.4e38");
  }
}

void set_scale(Quantization& q, std::span<const double> numbers, double largest) {
  const auto [low, high] = std::ranges::minmax(numbers);
  if (q.scheme == QuantizationScheme::absmax) {
    q.scale = std::max(std::abs(low), std::abs(high)) / largest;
  } else {
    q.scale = (std::max(high, 0.0) - std::min(low, 0.0)) / (2.0 * largest);
  }
  if (q.scale == 0.0) q.scale = 1.0;  // nothing but zeros: any scale brings them back
  if (q.scheme == QuantizationScheme::absmax) return;
  q.zero_point = std::llround(-largest - std::min(low, 0.0) / q.scale);
}

}  // namespace

Quantization quantize(std::span<const double> numbers, QuantizationScheme scheme, Dtype dtype) {
  const std::int64_t largest = largest_code(dtype);
  check_numbers(numbers);
  Quantization q;
  q.scheme = scheme;
  q.dtype = dtype;
  q.source = "Dettmers et al. 2022 (LLM.int8()), arXiv:2208.07339, section 2";
  set_scale(q, numbers, static_cast<double>(largest));
  double square_error = 0.0;
  for (const double x : numbers) {
    const std::int64_t code =
        std::clamp(static_cast<std::int64_t>(std::nearbyint(x / q.scale)) + q.zero_point, -largest, largest);
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
