#include "timing/generation.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace llmcalc::timing {

namespace {

/// Frameworks whose flash attention is cuDNN's or Transformer Engine's choice; the others import flash-attn 2.
bool brings_native_kernel(spec::Framework framework) {
  switch (framework) {
    case spec::Framework::generic:
    case spec::Framework::megatron:
    case spec::Framework::nemo:
    case spec::Framework::pax:
    case spec::Framework::maxtext:
    case spec::Framework::llm_c:
      return true;
    default:
      return false;
  }
}

/// PyTorch's scaled_dot_product_attention runs FlashAttention-2 unless cuDNN comes first, which it does on Hopper and
/// Blackwell since the release that ships cuDNN 9.15 (pytorch aten/src/ATen/native/transformers/cuda/sdp_utils.cpp,
/// check_prefer_cudnn_attention; pull request 138522 had made it opt-in in 2.5.1). A text without a release of torch is
/// of an older run; no text is the current release.
bool torch_prefers_cudnn(std::string_view version_text) {
  constexpr std::string_view major = "torch 2.";
  constexpr int first_minor = 11;
  if (version_text.empty()) return true;
  const std::size_t found = version_text.find(major);
  if (found == std::string_view::npos) return false;
  int minor = 0;
  const std::string_view rest = version_text.substr(found + major.size());
  std::from_chars(rest.data(), rest.data() + rest.size(), minor);
  return minor >= first_minor;
}

bool calls_native_kernel(const spec::Training& training) {
  if (training.attention == spec::AttentionKernel::sdpa) return torch_prefers_cudnn(training.framework_version);
  return brings_native_kernel(training.framework);
}

/// llm-foundry's attention is Triton's FlashAttention (attn_impl triton), which FlashAttention-2 beats by 1.3 to 2.5
/// times (Dao 2023 §4.1).
constexpr double triton_rate = 0.6;

/// InternEvo shipped flash-attn 1.0.5 in 2023, which FlashAttention-2 beats twice (Dao 2023 §4.1: 1.7 to 3 times).
constexpr double flash_1_rate = 0.5;

/// What an older kernel reaches of FlashAttention-2's rate.
double age_of_kernel(const spec::Training& training) {
  if (training.framework == spec::Framework::composer) return triton_rate;
  const bool of_2023 = training.framework_version.find("2023") != std::string::npos;
  return training.framework == spec::Framework::internevo && of_2023 ? flash_1_rate : 1.0;
}

/// Five products in 2.5 times the FLOPs of the forward kernel, at 0.82 of its rate: SimuMax sdp_bwd over sdp_fwd with
/// 64 heads or more: A100 0.85, B200 0.79 to 0.84.
constexpr double backward_rate = 0.82;

/// SimuMax, sdp_fwd at s = 4096 with 4 to 128 heads: A100 0.43, 0.65, 0.83, 0.95 of the rate with 64 heads at 4, 8, 16,
/// 32; B200 0.17 to 0.87 of that with 128.
constexpr double last_blocks = 1.5;

/// Larger heads than 128 need more registers than a block has: SimuMax, heads of 192 and 128: A100 0.90.
constexpr double wide_head = 0.9;

constexpr double measured_head = 128.0;

/// Scores take 2 d FLOPs and one exponential, so small heads wait for the exponentials (Shah et al. 2024 §3.1).
double head_factor(double dim, double exponential) {
  if (dim > measured_head) return wide_head;
  return dim / (dim + exponential) * (measured_head + exponential) / measured_head;
}

}  // namespace

AttentionRates attention_rates(const Chip& chip, const spec::Training& training) {
  if (chip.generation == nullptr) return unmeasured_attention(chip.ceiling);
  AttentionRates rates = calls_native_kernel(training) ? chip.generation->native : chip.generation->flash_2;
  rates.share *= std::min(1.0, chip.power);
  rates.share *= age_of_kernel(training);
  return rates;
}

/// A block of queries needs its keys and a fixed part. Beside full waves of blocks the kernel takes `last_blocks` more,
/// in which the units run out of work.
quantity::Seconds Kernels::attention(const program::Op& op, bool backward) const {
  const program::Product& heads = op.product;
  const double forward = quantity::in_flops(op.forward);
  const double unmasked = forward / (forward + quantity::in_flops(op.masked));
  const double keys = static_cast<double>(heads.n) * unmasked;
  const double queries = backward ? 0.5 * attention_.queries : attention_.queries;
  const double blocks = std::ceil(static_cast<double>(heads.m) / queries) * static_cast<double>(heads.count) / units_;

  const double occupied = blocks / (std::max(1.0, blocks) + last_blocks);
  const double rate = std::min(wide_rate_, compute_rate_) * attention_.share * occupied * keys /
                      (keys + attention_.fixed_keys) *
                      head_factor(static_cast<double>(heads.k), attention_.exponential);
  if (!backward) return quantity::seconds(forward / rate);
  const double work = quantity::in_flops(op.backward_input + op.kernel_recompute);
  return quantity::seconds(work / (rate * backward_rate));
}

}  // namespace llmcalc::timing
