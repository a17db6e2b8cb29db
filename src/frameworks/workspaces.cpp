#include "frameworks/inner/workspaces.hpp"

namespace llmcalc::frameworks {

/// cuBLAS keeps one workspace a handle and stream, and the backward thread has a handle of its own: 32 MiB from Hopper
/// on, 8.125 MiB before (pytorch aten/src/ATen/cuda/CublasHandlePool.cpp, parseChosenWorkspaceSize); 32 MiB also where
/// CUBLAS_WORKSPACE_CONFIG=:4096:8 asks for equal results in all runs.
quantity::Bytes cublas_workspace(const std::optional<spec::Accelerator>& gpu, bool deterministic) {
  return spec::can(gpu, spec::Ability::large_workspaces) || deterministic ? quantity::mib(32)
                                                                          : quantity::bytes(8320 * quantity::kibi);
}

quantity::Bytes product_workspaces(const Run& run) {
  return 2 * cublas_workspace(run.gpu, run.training.deterministic.value_or(false));
}

/// What torch.optim's foreach implementations make for all parameters at once: AdamW the root of its second moment
/// (torch/optim/adamw.py, _multi_tensor_adamw), Adagrad that and the scaled gradient (adagrad.py,
/// _multi_tensor_adagrad). Fused and quantized implementations make nothing of that size.
int step_temporaries(const spec::Training& training) {
  if (training.optimizer_impl != spec::OptimizerImpl::foreach) return 0;
  switch (training.optimizer) {
    case spec::Optimizer::adamw: return 1;
    case spec::Optimizer::adagrad: return 2;
    default: return 0;
  }
}

}  // namespace llmcalc::frameworks
