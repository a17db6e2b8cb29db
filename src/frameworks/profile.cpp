#include "llmcalc/frameworks/profile.hpp"

#include "frameworks/attention_library.hpp"
#include "frameworks/deepspeed.hpp"
#include "frameworks/megatron_frameworks.hpp"
#include "frameworks/torch_frameworks.hpp"
#include "frameworks/workspaces.hpp"
#include "llmcalc/spec/traits.hpp"

namespace llmcalc::frameworks {

using quantity::mib;
using spec::Framework;

namespace {

/// How a framework allocates; several frameworks share one family.
enum class Family { textbook, torch, megatron };

Family family_of(Framework framework) {
  switch (framework) {
    case Framework::generic:
    case Framework::pax:
    case Framework::maxtext:
      return Family::textbook;
    case Framework::megatron:
    case Framework::megatron_deepspeed:
    case Framework::nemo:
    case Framework::internevo:
    case Framework::colossalai:
    case Framework::llm_c:
      return Family::megatron;
    default:
      return Family::torch;
  }
}

/// Seen after the training kernels are loaded: 426 MiB (RTX 6000 Ada), 500 to 600 MiB (H100)
/// (pytorch/pytorch issues 86509, 109888, 107667; unsloth-zoo issue 1053).
quantity::Bytes cuda_context(bool hopper) { return hopper ? mib(550) : mib(426); }

/// Peak reserved over peak allocated of 43 Megatron runs on B200: median 1.040 (SimuMax v1.2 docs/b200).
constexpr double median_reserved_ratio = 1.04;

/// Praxis writes attention as two einsums and a softmax (praxis/layers/attentions.py, DotProductAttention), unless
/// Transformer Engine takes its place, whose fused kernels took 512 positions and heads of 64 at most in 2023
/// (transformer_engine/jax/flax/transformer.py, fused_attn_supported_seqlen).
bool writes_out_scores(const spec::Training& training) {
  if (training.framework != Framework::pax) return false;
  return !training.fused_kernels || training.framework_version.find("2023") != std::string::npos;
}

/// The textbook keeps what Korthikanti et al. 2022 count: no statistics, no scratch, one gradient buffer.
Profile textbook(const spec::Training& training) {
  Profile p;
  p.writes_out_scores = writes_out_scores(training);
  p.keeps_norm_statistics = false;
  p.keeps_log_sum_exp = false;
  p.models_kernel_workspace = false;
  return p;
}

Profile family_profile(Family family, const spec::Training& training, const std::optional<spec::Accelerator>& gpu) {
  switch (family) {
    case Family::textbook:
      return textbook(training);
    case Family::torch:
      return torch_profile(training);
    case Family::megatron:
      return megatron_profile(training, gpu);
  }
  return {};
}

/// What torch.optim's foreach implementations make for all parameters at once: AdamW the root of its second moment
/// (torch/optim/adamw.py, _multi_tensor_adamw), Adagrad that and the scaled gradient (adagrad.py,
/// _multi_tensor_adagrad). Fused and quantized implementations make nothing of that size.
int step_temporaries(const spec::Training& training) {
  if (training.optimizer_impl != spec::OptimizerImpl::foreach) return 0;
  switch (training.optimizer) {
    case spec::Optimizer::adamw:
      return 1;
    case spec::Optimizer::adagrad:
      return 2;
    default:
      return 0;
  }
}

/// LOMO updates each tensor as soon as its gradient exists and drops it (Lv et al. 2023, arXiv:2306.09782 section 3.1;
/// AdaLomo: arXiv:2310.10195).
bool fuses_update(spec::Optimizer optimizer) {
  return optimizer == spec::Optimizer::lomo || optimizer == spec::Optimizer::adalomo;
}

}  // namespace

Profile make_profile(const spec::Training& training, const std::optional<spec::Accelerator>& gpu) {
  const Family family = family_of(training.framework);
  const bool hopper = is_hopper_or_newer(gpu);
  Profile p = family_profile(family, training, gpu);
  p.attention_library = attention_library(training);
  const bool fused_glu = training.compile || training.framework == Framework::liger;
  if (fused_glu) p.fused_glu = true;
  if (fused_glu || training.fused_kernels) {
    p.fused_norm = true;
    p.fuses_rotary = true;
    p.eager_kernels = false;
  }
  p.optimizer_temporaries = family == Family::textbook ? 0 : step_temporaries(training);
  p.context = cuda_context(hopper);
  p.reserved_over_allocated = median_reserved_ratio;
  const auto handles = 2 * cublas_workspace(hopper, training.deterministic.value_or(false));
  if (family == Family::torch) {
    p.workspace = handles;
    p.allocates_tensors = true;
  }
  if (spec::runs_deepspeed(training.framework)) {
    apply_deepspeed(training, p);
    p.workspace = handles;
    p.allocates_tensors = false;
  }
  if (fuses_update(training.optimizer) || training.optimizer_in_backward) {
    p.updates_in_backward = true;
    p.optimizer_temporaries = 0;
    p.persistent_gradients = false;
  }
  return p;
}

}  // namespace llmcalc::frameworks
