#include "llmcalc/program/profile.hpp"

#include "program/release.hpp"

namespace llmcalc::program {

using quantity::bytes;
using quantity::kibi;
using quantity::mib;
using spec::Framework;

namespace {

/// How a framework allocates; several frameworks share one family.
enum class Family { textbook, eager_torch, megatron };

Family family_of(Framework framework) {
  switch (framework) {
    case Framework::generic:
    case Framework::pax:
    case Framework::maxtext: return Family::textbook;
    case Framework::megatron:
    case Framework::megatron_deepspeed:
    case Framework::nemo:
    case Framework::internevo:
    case Framework::colossalai:
    case Framework::llm_c: return Family::megatron;
    default: return Family::eager_torch;
  }
}

bool is_hopper_or_newer(const std::optional<spec::Accelerator>& gpu) {
  constexpr int hopper_year = 2022;
  return !gpu || (gpu->vendor == "NVIDIA" && gpu->year >= hopper_year && gpu->arch.find("Ada") == std::string::npos &&
                  gpu->arch.find("Ampere") == std::string::npos);
}

/// cuBLAS keeps one workspace a handle and stream, and the backward thread has a handle of its own: 32 MiB from Hopper on, 8.125 MiB before
/// (pytorch aten/src/ATen/cuda/CublasHandlePool.cpp, parseChosenWorkspaceSize).
quantity::Bytes cublas_workspace(bool hopper) { return hopper ? mib(32) : bytes(8320 * kibi); }

/// Transformer Engine: 32 MiB and 1 KiB from Hopper on, 4 MiB before (cpp_extensions/gemm.py, get_cublas_workspace).
quantity::Bytes transformer_engine_workspace(bool hopper) { return hopper ? bytes(33'555'456) : mib(4); }

/// Transformer Engine runs grouped products on so many streams, each with a workspace (cpp_extensions/gemm.py,
/// get_multi_stream_cublas_workspace).
constexpr std::int64_t grouped_product_streams = 4;

/// Seen after the training kernels are loaded: 426 MiB (RTX 6000 Ada), 500 to 600 MiB (H100)
/// (pytorch/pytorch issues 86509, 109888, 107667; unsloth-zoo issue 1053).
quantity::Bytes cuda_context(bool hopper) { return hopper ? mib(550) : mib(426); }

/// Peak reserved over peak allocated of 43 Megatron runs on B200: median 1.040 (SimuMax v1.2 docs/b200).
constexpr double median_reserved_ratio = 1.04;

/// The textbook keeps what Korthikanti et al. 2022 count: no statistics, no scratch, one gradient buffer.
Profile textbook() {
  Profile p;
  p.keeps_norm_statistics = false;
  p.keeps_log_sum_exp = false;
  p.models_kernel_workspace = false;
  return p;
}

/// transformers on plain PyTorch: a chain of tensor operations, gradients made in each backward pass.
Profile eager_torch() {
  Profile p;
  p.fused_norm = false;
  p.fused_glu = false;
  p.fused_projections = false;
  p.repeats_kv = true;
  p.softmax_in_fp32 = true;
  p.eager_loss = true;
  p.keeps_expert_outputs = true;
  p.persistent_gradients = false;
  p.fused_gradient_accumulation = false;
  return p;
}

/// Megatron-LM with Transformer Engine kernels and fp32 gradient buffers.
Profile megatron() {
  Profile p;
  p.retains_stage_tensors = true;
  p.dummy_weight_gradients = true;
  return p;
}

Profile family_profile(Family family) {
  switch (family) {
    case Family::textbook: return textbook();
    case Family::eager_torch: return eager_torch();
    case Family::megatron: return megatron();
  }
  return {};
}

/// torch.optim's foreach AdamW makes sqrt(exp_avg_sq) for all parameters at once (torch/optim/adamw.py,
/// _multi_tensor_adamw); fused and quantized implementations make nothing of that size.
int step_temporaries(const spec::Training& training) {
  const bool adamw = training.optimizer == spec::Optimizer::adamw;
  return adamw && training.optimizer_impl == spec::OptimizerImpl::foreach ? 1 : 0;
}

bool trains_adapters(spec::Method method) {
  return method == spec::Method::lora || method == spec::Method::qlora || method == spec::Method::dora;
}

/// What depends on the run rather than on the framework alone.
void apply_huggingface(const spec::Training& training, Profile& p) {
  const bool adapters = trains_adapters(training.method);
  const bool quantized = spec::facts(training.precision.weights).bits <= 8;
  p.fused_adapters = training.fused_kernels && quantized;
  p.widens_adapter_input = !quantized && !training.fused_kernels;
  p.retains_frozen_inputs = adapters && training.recompute.policy == spec::RecomputePolicy::full;
  p.keeps_batch = true;
  const Release transformers = transformers_release(training.framework_version);
  p.holds_narrow_logits = transformers >= Release{4, 45};
  p.shifts_logits = transformers < Release{4, 50};
  p.widens_adapter_input = p.widens_adapter_input && transformers >= Release{4, 45};
}

}  // namespace

Profile make_profile(const spec::Training& training, const std::optional<spec::Accelerator>& gpu) {
  const Family family = family_of(training.framework);
  const bool hopper = is_hopper_or_newer(gpu);
  Profile p = family_profile(family);
  if (training.fused_kernels || training.compile) p.fused_norm = true;
  if (training.compile || training.framework == Framework::liger) p.fused_norm = p.fused_glu = true;
  if (family == Family::eager_torch) apply_huggingface(training, p);
  p.optimizer_temporaries = family == Family::textbook ? 0 : step_temporaries(training);
  p.context = cuda_context(hopper);
  p.reserved_over_allocated = median_reserved_ratio;
  if (family == Family::eager_torch) p.workspace = 2 * cublas_workspace(hopper);
  if (family == Family::megatron) {
    p.workspace = 2 * mib(32) + transformer_engine_workspace(hopper);
    p.expert_workspace = grouped_product_streams * transformer_engine_workspace(hopper);
  }
  return p;
}

}  // namespace llmcalc::program
