// The curves of presets/operations: what kernels of serving reach on the parts that were measured.
#pragma once

#include "llmcalc/spec/accelerator.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace llmcalc::timing {

/// Columns as in presets/operations/README.md; times in microseconds, the rest shares of the data sheet.
struct ProductCurve {
  std::string_view gpu;
  std::string_view format;
  double floor, tile, bandwidth, peak, half_rows, passes;
  double measured, error_percent;
};

struct AttentionCurve {
  std::string_view gpu;
  std::string_view cache;
  double decode_floor, decode_doubling, decode_bandwidth, decode_peak;
  double prefill_floor, prefill_peak, prefill_passes, heads_of_64, heads_of_256;
  double decode_measured, decode_error_percent, prefill_measured, prefill_error_percent;
};

struct LatentCurve {
  std::string_view gpu;
  std::string_view cache;
  double decode_floor, decode_doubling, decode_bandwidth, decode_peak;
  double prefill_floor, prefill_peak, prefill_passes;
  double decode_measured, decode_error_percent, prefill_measured, prefill_error_percent;
};

struct MixtureCurve {
  std::string_view gpu;
  std::string_view format;
  double floor, experts, bandwidth, peak, half_rows, passes;
  double measured, error_percent;
};

/// Messages of 2^12 bytes to 2^28.
inline constexpr int smallest_message = 12;
inline constexpr std::size_t message_sizes = 17;

struct AllReduceCurve {
  std::string_view gpu;
  std::int64_t ranks = 2;
  std::array<double, message_sizes> times{};
};

/// A measured part, the one that stands in for what was not measured of it, and its links in GB/s one way.
struct Board {
  std::string_view gpu;
  std::string_view rest;
  double link;
};

std::span<const ProductCurve> product_curves();
std::span<const AttentionCurve> attention_curves();
std::span<const LatentCurve> latent_curves();
std::span<const MixtureCurve> mixture_curves();
std::span<const AllReduceCurve> all_reduce_curves();

/// The measured part that is nearest to another, as its rates name it.
/// \throws quantity::BadInput where they name one of which nothing was measured
std::string_view measured_relative(const spec::Accelerator& gpu);

const Board& board_of(std::string_view measured);

}  // namespace llmcalc::timing
