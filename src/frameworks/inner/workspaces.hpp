// What the libraries behind matrix products and optimizers take beside the tensors of a program.
#pragma once

#include "frameworks/inner/profiles.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/accelerator.hpp"

#include <optional>

namespace llmcalc::frameworks {

/// One of cuBLAS. \param deterministic  equal results in all runs are asked for
quantity::Bytes cublas_workspace(const std::optional<spec::Accelerator>& gpu, bool deterministic);

/// Those of a PyTorch process.
quantity::Bytes product_workspaces(const Run& run);

/// Parameter-sized temporaries of torch.optim's step.
int step_temporaries(const spec::Training& training);

}  // namespace llmcalc::frameworks
