// What the libraries behind matrix products and optimizers take beside the tensors of a program.
#pragma once

#include "frameworks/inner/profiles.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/accelerator.hpp"

#include <optional>

namespace llmcalc::frameworks {

/// Nothing said means a current data-centre part.
bool is_hopper_or_newer(const std::optional<spec::Accelerator>& gpu);

/// One of cuBLAS. \param deterministic  equal results in all runs are asked for
quantity::Bytes cublas_workspace(bool hopper, bool deterministic);

/// Those of a PyTorch process.
quantity::Bytes product_workspaces(const Run& run);

/// Parameter-sized temporaries of torch.optim's step.
int step_temporaries(const spec::Training& training);

}  // namespace llmcalc::frameworks
