#include "frameworks/workspaces.hpp"

namespace llmcalc::frameworks {

bool is_hopper_or_newer(const std::optional<spec::Accelerator>& gpu) {
  constexpr int hopper_year = 2022;
  return !gpu || (gpu->vendor == "NVIDIA" && gpu->year >= hopper_year && gpu->arch.find("Ada") == std::string::npos &&
                  gpu->arch.find("Ampere") == std::string::npos);
}

/// cuBLAS keeps one workspace a handle and stream, and the backward thread has a handle of its own: 32 MiB from Hopper
/// on, 8.125 MiB before (pytorch aten/src/ATen/cuda/CublasHandlePool.cpp, parseChosenWorkspaceSize); 32 MiB also where
/// CUBLAS_WORKSPACE_CONFIG=:4096:8 asks for equal results in all runs.
quantity::Bytes cublas_workspace(bool hopper, bool deterministic) {
  return hopper || deterministic ? quantity::mib(32) : quantity::bytes(8320 * quantity::kibi);
}

}  // namespace llmcalc::frameworks
