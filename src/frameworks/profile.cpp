#include "frameworks/profile.hpp"

#include "frameworks/inner/profiles.hpp"
#include "frameworks/release.hpp"
#include "frameworks/table.hpp"

namespace llmcalc::frameworks {

using quantity::mib;

namespace {

/// Seen after the training kernels are loaded: 426 MiB (RTX 6000 Ada), 500 to 600 MiB (H100)
/// (pytorch/pytorch issues 86509, 109888, 107667; unsloth-zoo issue 1053); with CUDA 13, whose wheels are PyTorch's
/// since 2.11, 751 to 879 MiB and mostly 767 (69 runs on an H100, driver 580: tests/measured/h100-trainers.csv).
quantity::Bytes cuda_context(bool hopper, const spec::Software& software) {
  if (!hopper) return mib(426);
  return holds(Behaviour::cuda_13, software) ? mib(767) : mib(550);
}

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

/// FlashAttention-3 and 4 are packages of their own beside flash-attn, whose kernels are those of 2 on every part
/// (Dao-AILab/flash-attention hopper/setup.py, flash_attn/cute/pyproject.toml): nobody runs them unless they are named.
bool names_newer_flash(const spec::Software& software) {
  const auto release = software.release_of(spec::Library::flash_attention);
  return release && release->major > 2;
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

/// Defaults of deepspeed/runtime/zero/config.py, DeepSpeedZeroConfig.
constexpr ZeroEngine default_engine{
    .reduce_bucket = 500'000'000,
    .gather_bucket = 500'000'000,
    .prefetch_bucket = 50'000'000,
    .smallest_sharded = 100'000,
    .step_group = 1'000'000'000,
};

}  // namespace

Profile make_profile(const spec::Training& training, const std::optional<spec::Accelerator>& gpu,
                     spec::Sharding sharding) {
  const FrameworkRow& row = row_of(training.framework);
  Profile p = row.profile({training, gpu});
  if (hands_to_deepspeed(training, sharding)) apply_deepspeed({training, gpu}, p);
  if (training.attention == spec::AttentionKernel::sdpa) p.attention.library = library_of_torch(training, gpu);
  if (training.attention == spec::AttentionKernel::flash && names_newer_flash(training.software)) {
    p.attention.library = AttentionLibrary::native;
  }
  if (training.compile) p.mlp.fused_glu = true;
  if (training.compile || training.fused_kernels) {
    p.norm.fused = true;
    p.attention.fuses_rotary = true;
    p.kernels.eager = false;
  }
  p.measured.context = cuda_context(spec::can(gpu, spec::Ability::large_workspaces), training.software);
  p.measured.reserved_over_allocated = median_reserved_ratio;
  p.host.waits_for_kernels = training.launch_blocking;
  if (fuses_update(training.optimizer) || training.optimizer_in_backward) update_in_backward(p);
  return p;
}

/// 16-bit gradients are made in each backward pass and widened for the step; fp32 ones are the flat buffer of
/// BF16_Optimizer, full-size whatever is sharded, to which every 16-bit gradient is added in fp32 behind the backward
/// pass (runtime/bf16_optimizer.py, fp32_groups_gradients_flat and update_hp_grads) and which all ranks reduce whole
/// (runtime/pipe/engine.py, _bf16_reduce_grads).
void apply_deepspeed(const Run& run, Profile& profile) {
  const spec::Training& training = run.training;
  const auto& precision = training.precision;
  profile.exchange.zero = default_engine;
  profile.gradients.persistent = precision.master && precision.grads == formats::Dtype::fp32;
  profile.gradients.accumulation = profile.gradients.persistent ? Accumulation::apart_widened : Accumulation::apart;
  profile.gradients.dummy_weight = false;
  profile.exchange.reduces_whole_gradients = profile.gradients.persistent;
  profile.step.widens_gradients = true;
  profile.narrow.keeps_inputs = false;
  profile.allocator.workspace = product_workspaces(run);
  profile.allocator.allocates_tensors = false;
}

/// The textbook keeps what Korthikanti et al. 2022 count: no statistics, no scratch, one gradient buffer.
Profile textbook_profile(const Run&) {
  Profile p;
  p.norm.keeps_statistics = false;
  p.attention.keeps_log_sum_exp = false;
  p.kernels.have_workspace = false;
  p.attention.library = AttentionLibrary::native;
  return p;
}

/// XLA drops what nothing reads, of a layer that runs again its end (jax/_src/ad_checkpoint.py, remat_dce).
/// Hidden states are of `dtype` (MaxText layers/decoders.py, _apply_embedding; praxis base_layer.py, fprop_dtype).
Profile maxtext_profile(const Run& run) {
  Profile p = textbook_profile(run);
  p.kernels.stops_recompute = true;
  p.kernels.hand_on_narrow = true;
  return p;
}

/// Praxis writes attention as two einsums and a softmax (praxis/layers/attentions.py, DotProductAttention), unless
/// Transformer Engine takes its place, whose fused kernels took 512 positions and heads of 64 at most in 2023
/// (transformer_engine/jax/flax/transformer.py, fused_attn_supported_seqlen). Layers run in a loop (praxis
/// layers/repeats.py), and XLA's scheduler hides latency within its body alone: nothing moves exchanges across
/// iterations unless collectives are pipelined, which Pax's flags do not ask for (JAX-Toolbox
/// rosetta/projects/pax/xla_flags/gpt-5b.env).
Profile pax_profile(const Run& run) {
  Profile p = maxtext_profile(run);
  const bool takes_long = holds(Behaviour::pax_long_attention, run.training.software);
  p.attention.writes_out_scores = !run.training.fused_kernels || !takes_long;
  p.exchange.overlaps_within_layer = true;
  return p;
}

namespace {

/// cuBLAS keeps one workspace a handle and stream, and the backward thread has a handle of its own: 32 MiB from Hopper
/// on, 8.125 MiB before (pytorch aten/src/ATen/cuda/CublasHandlePool.cpp, parseChosenWorkspaceSize); 32 MiB also where
/// CUBLAS_WORKSPACE_CONFIG=:4096:8 asks for equal results in all runs.
quantity::Bytes cublas_workspace(const std::optional<spec::Accelerator>& gpu, bool deterministic) {
  return spec::can(gpu, spec::Ability::large_workspaces) || deterministic ? quantity::mib(32)
                                                                          : quantity::bytes(8320 * quantity::kibi);
}

}  // namespace

quantity::Bytes product_workspaces(const Run& run) {
  return 2 * cublas_workspace(run.gpu, run.training.deterministic.value_or(false));
}

/// Temporaries that torch.optim's foreach implementations make for all parameters at once: AdamW the root of its second
/// moment (torch/optim/adamw.py, _multi_tensor_adamw), Adagrad that and the scaled gradient (adagrad.py,
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
