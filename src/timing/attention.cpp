#include "timing/inner/chip.hpp"

#include <algorithm>
#include <cmath>

namespace llmcalc::timing {

namespace {

/// FlashAttention-2 beats Triton's FlashAttention by 1.3 to 2.5 times (Dao 2023 §4.1).
constexpr double triton_rate = 0.6;

/// FlashAttention-2 beats FlashAttention twice (Dao 2023 §4.1: 1.7 to 3 times).
constexpr double flash_1_rate = 0.5;

/// What a kernel reaches of FlashAttention-2's rate, or of the native kernel's.
double rate_of(frameworks::AttentionLibrary library) {
  switch (library) {
    case frameworks::AttentionLibrary::triton: return triton_rate;
    case frameworks::AttentionLibrary::flash_1: return flash_1_rate;
    case frameworks::AttentionLibrary::native:
    case frameworks::AttentionLibrary::flash_2: break;
  }
  return 1.0;
}

/// The first kernels are too slow to wait for exponentials: with heads of 64 they are as fast as with 128, which
/// FlashAttention-2 is not by a tenth (Dao 2023 figure 4). Of 6 runs of llm-foundry's 125M with 16k tokens and more on
/// A100 the median error is -1 % so, and 13 % otherwise; with heads of 128 it is 0.
bool hides_exponentials(frameworks::AttentionLibrary library) {
  return library == frameworks::AttentionLibrary::triton || library == frameworks::AttentionLibrary::flash_1;
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

/// Scores take 2 d FLOPs and one exponential, so small heads wait for the exponentials (Shah et al. 2024 §3.1), and so
/// do products that are `faster` than 16-bit ones: FlashAttention-3 in 8 bit 1.5 to 1.7 times as fast as in 16 (the
/// same, figure 7).
double head_factor(double dim, double exponential, double faster) {
  const double wide = dim > measured_head ? wide_head : 1.0;
  const double d = std::min(dim, measured_head);
  return wide * d / (d / faster + exponential) * (measured_head + exponential) / measured_head;
}

}  // namespace

spec::AttentionRates attention_rates(const Chip& chip, frameworks::AttentionLibrary library) {
  const spec::AttentionKernels& kernels = chip.rates->attention;
  spec::AttentionRates rates = library == frameworks::AttentionLibrary::native ? kernels.native : kernels.flash_2;
  if (!is_measured_by_shape(*chip.rates)) {
    rates.share = kernels.of_products * chip.ceiling * rate_of(library);
    return rates;
  }
  if (rates.share <= 0.0) rates.share = kernels.of_products * chip.rates->products.ceiling;
  rates.share *= std::min(1.0, chip.power);
  rates.share *= rate_of(library);
  if (hides_exponentials(library)) rates.exponential = 0.0;
  return rates;
}

/// A block of queries needs its keys and a fixed part; backward kernels take half as many queries at a time (64 instead
/// of 128 with heads of 128: flash-attention csrc/flash_attn/src/flash_bwd_launch_template.h). Beside full waves of
/// blocks the kernel takes `last_blocks` more, in which the units run out of work.
quantity::Seconds KernelPrices::attention(const layers::Op& op, bool backward) const {
  const layers::Product& heads = op.product;
  const double forward = quantity::in_flops(op.forward);
  const double unmasked = forward / (forward + quantity::in_flops(op.masked));
  const double computed = op.computes_masked ? 1.0 : unmasked;  // of the square of scores
  const double keys = static_cast<double>(heads.n) * computed;
  const double queries = backward ? 0.5 * attention_.queries : attention_.queries;
  const double blocks = std::ceil(static_cast<double>(heads.m) / queries) * static_cast<double>(heads.count) / units_;

  const double occupied = blocks / (std::max(1.0, blocks) + last_blocks);
  const double rate = std::min(wide_rate_, compute_rate_) * attention_.share * occupied * keys /
                      (keys + attention_.fixed_keys) *
                      head_factor(static_cast<double>(heads.k), attention_.exponential, attention_type_);
  const double executed = rate * unmasked / computed;
  if (!backward) return quantity::seconds(forward / executed);
  const double work = quantity::in_flops(op.backward_input + op.kernel_recompute);
  return quantity::seconds(work / (executed * backward_rate));
}

}  // namespace llmcalc::timing
