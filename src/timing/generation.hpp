// What was measured of the kernels of one generation of dies.
#pragma once

#include "llmcalc/timing/kernels.hpp"

#include <string_view>

namespace llmcalc::timing {

struct Generation {
  std::string_view arch;      ///< with which the name of the architecture begins
  std::string_view measured;  ///< the part that was measured
  MatrixRates matrix;         ///< in isolation
  double watts_per_teraflop;  ///< of the measured part, at its dense 16-bit peak
  double units;               ///< of parts that do not say
  AttentionRates native;      ///< of the kernel written for this generation
  AttentionRates flash_2;     ///< of FlashAttention-2
};

/// The generation that a part belongs to; nullptr when nothing of it was measured.
const Generation* generation_of(const spec::Accelerator& gpu);

/// How much of its measured relative's clock a part sustains that has less or more power for each FLOP: the fourth root
/// of the ratio. A100 PCIe with 300 W reaches 0.933 of the SXM module with 400 W, GH200 with 900 W 1.044 of H100 with
/// 700 W (MAMF finder, stas00/ml-engineering compute/accelerator/README.md): exponents 0.24 and 0.17.
double power_factor(const spec::Accelerator& gpu, const Generation& generation);

/// What products reach on a part whose generation was not measured: its own best product, or the median of the parts
/// that have one.
double fallback_ceiling(const spec::Accelerator& gpu);

/// Of parts without a measured kernel: two thirds of what products reach, as FlashAttention-2 on the A100 (0.62 of
/// 0.94).
constexpr AttentionRates unmeasured_attention(double ceiling) {
  return {.share = 2.0 / 3.0 * ceiling, .fixed_keys = 130, .exponential = 27, .queries = 128};
}

/// Rates of matrix products inside a training run.
MatrixRates matrix_rates(const spec::Accelerator& gpu);

/// Rates of the fused attention kernel that the run's framework calls on that part.
AttentionRates attention_rates(const spec::Accelerator& gpu, const spec::Training& training);

/// Units that work on tiles at the same time.
double parallel_units(const spec::Accelerator& gpu);

}  // namespace llmcalc::timing
