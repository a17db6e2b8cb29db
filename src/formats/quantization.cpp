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
