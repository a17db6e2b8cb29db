// What the libraries behind matrix products take on one generation of accelerators.
#pragma once

#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/accelerator.hpp"

#include <optional>

namespace llmcalc::frameworks {

/// Nothing said means a current data-centre part.
bool is_hopper_or_newer(const std::optional<spec::Accelerator>& gpu);

/// One of cuBLAS. \param deterministic  equal results in all runs are asked for
quantity::Bytes cublas_workspace(bool hopper, bool deterministic);

}  // namespace llmcalc::frameworks
