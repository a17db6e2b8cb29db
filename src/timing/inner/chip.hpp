// One accelerator as its kernels see it: its measured rates under the power that it has, inside a run.
#pragma once

#include "timing/kernels.hpp"

namespace llmcalc::timing {

struct Chip {
  const spec::Rates* rates = nullptr;
  double power = 1.0;         ///< clock that it sustains over that of the measured part
  double ceiling = 0.0;       ///< where no shapes were measured: share of the peak that the best product reaches
  bool has_measured = false;  ///< whether that is its own
  double units = 1.0;
};

/// \pre the accelerator outlives the result
Chip chip_of(const spec::Accelerator& gpu);

/// Whether products of many shapes were measured, or the best one alone.
bool is_measured_by_shape(const spec::Rates& rates);

/// Rates of matrix products inside a training run.
MatrixRates matrix_rates(const Chip& chip);

/// Rates of a fused attention kernel on that part.
spec::AttentionRates attention_rates(const Chip& chip, frameworks::AttentionLibrary library);

}  // namespace llmcalc::timing
