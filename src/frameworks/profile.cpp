#include "frameworks/profile.hpp"

#include "frameworks/inner/profiles.hpp"
#include "frameworks/inner/workspaces.hpp"
#include "frameworks/release.hpp"
#include "frameworks/table.hpp"

namespace llmcalc::frameworks {

using quantity::mib;

namespace {

/// Seen after the training kernels are loaded: 426 MiB (RTX 6000 Ada), 500 to 600 MiB (H100)
/// (pytorch/pytorch issues 86509, 109888, 107667; unsloth-zoo issue 1053).
quantity::Bytes cuda_context(bool hopper) { return hopper ? mib(550) : mib(426); }

/// Peak reserved over peak allocated of 43 Megatron runs on B200: median 1.040 (SimuMax v1.2 docs/b200).
constexpr double median_reserved_ratio = 1.04;

/// PyTorch's scaled_dot_product_attention runs FlashAttention-2 unless cuDNN comes first, which it does on Hopper and
/// Blackwell since the release that ships cuDNN 9.15 (pytorch aten/src/ATen/native/transformers/cuda/sdp_utils.cpp,
/// check_prefer_cudnn_attention; pull request 138522 had made it opt-in in 2.5.1). On AMD's parts it is AOTriton,
/// kernels that Triton has compiled ahead (aten/src/ATen/native/transformers/hip/flash_attn/flash_api.h).
AttentionLibrary library_of_torch(const spec::Training& training, const std::optional<spec::Accelerator>& gpu) {
  if (gpu && gpu->generation.can(spec::Ability::triton_attention)) return AttentionLibrary::triton;
  return holds(Behaviour::cudnn_attention, training.software) ? AttentionLibrary::native : AttentionLibrary::flash_2;
}

/// LOMO updates each tensor as soon as its gradient exists and drops it (Lv et al. 2023, arXiv:2306.09782 section 3.1;
/// AdaLomo: arXiv:2310.10195).
bool fuses_update(spec::Optimizer optimizer) {
  return optimizer == spec::Optimizer::lomo || optimizer == spec::Optimizer::adalomo;
}

void update_in_backward(Profile& p) {
  p.step.updates_in_backward = true;
  p.step.temporaries = 0;
  p.gradients.persistent = false;
}

}  // namespace

Profile make_profile(const spec::Training& training, const std::optional<spec::Accelerator>& gpu,
                     spec::Sharding sharding) {
  const FrameworkRow& row = row_of(training.framework);
  Profile p = row.profile({training, gpu});
  if (hands_to_deepspeed(training, sharding)) apply_deepspeed({training, gpu}, p);
  if (training.attention == spec::AttentionKernel::sdpa) p.attention.library = library_of_torch(training, gpu);
  if (training.compile) p.mlp.fused_glu = true;
  if (training.compile || training.fused_kernels) {
    p.norm.fused = true;
    p.attention.fuses_rotary = true;
    p.kernels.eager = false;
  }
  p.measured.context = cuda_context(spec::can(gpu, spec::Ability::large_workspaces));
  p.measured.reserved_over_allocated = median_reserved_ratio;
  p.host.waits_for_kernels = training.launch_blocking;
  if (fuses_update(training.optimizer) || training.optimizer_in_backward) update_in_backward(p);
  return p;
}

}  // namespace llmcalc::frameworks
