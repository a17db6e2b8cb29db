// What was measured of the kernels of one generation of dies.
#pragma once

#include "llmcalc/timing/kernels.hpp"

#include <string_view>

namespace llmcalc::timing {

struct Generation {
  std::string_view arch;      ///< with which the name of the architecture begins
  std::string_view name;      ///< and that of the part
  std::string_view measured;  ///< the part that was measured
  MatrixRates matrix;         ///< in isolation
  double inside_a_run;        ///< rate of 16-bit products inside a run over that in isolation
  double narrow_in_a_run;     ///< the same of 8- and 4-bit ones
  double sustained;           ///< and of large products when there is nothing else
  double watts_per_teraflop;  ///< of the measured part, at its dense 16-bit peak
  double power_exponent;      ///< with which its clock follows the power for each FLOP
  double units;               ///< of parts that do not say
  double eager;               ///< share of the memory bandwidth that PyTorch's own kernels reach
  AttentionRates native;      ///< of the kernel written for this generation
  AttentionRates flash_2;     ///< of FlashAttention-2
};

/// One part, found in the tables.
struct Chip {
  const Generation* generation = nullptr;  ///< nullptr when nothing of it was measured shape by shape
  double power = 1.0;                      ///< clock that it sustains over that of the measured part
  double ceiling = 0.0;                    ///< without a generation: share of the peak that the best product reaches
  std::string_view relative{};             ///< whose ceiling that is; empty for its own
  double units = 1.0;
};

Chip chip_of(const spec::Accelerator& gpu);

/// Of parts without a measured kernel: two thirds of what products reach, as FlashAttention-2 on the A100 (0.63 of
/// 0.94).
constexpr AttentionRates unmeasured_attention(double ceiling) {
  return {.share = 2.0 / 3.0 * ceiling, .fixed_keys = 130, .exponential = 27, .queries = 128};
}

/// Rates of matrix products inside a training run.
MatrixRates matrix_rates(const Chip& chip);

/// Rates of a fused attention kernel on that part.
AttentionRates attention_rates(const Chip& chip, frameworks::AttentionLibrary library);

}  // namespace llmcalc::timing
