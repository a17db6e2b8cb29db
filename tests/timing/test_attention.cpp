#include "catch.hpp"
#include "timing/kernel_prices.hpp"
#include "timing/steps.hpp"

using namespace llmcalc;
using test::Prices;

namespace {

/// A causal fused kernel over `count` heads of `dim`.
layers::Op causal(std::int64_t seq, std::int64_t count, std::int64_t dim = 128) {
  layers::Op op;
  op.kind = layers::OpKind::attention;
  op.product = {seq, seq, dim, count};
  const auto s = static_cast<double>(seq);
  const double square = 4.0 * s * s * static_cast<double>(count * dim);
  op.forward = op.masked = quantity::flops(0.5 * square);
  op.backward_input = 2.0 * op.forward;
  op.kernel_recompute = 0.5 * op.forward;
  return op;
}

double teraflops(const Prices& prices, const layers::Op& op) {
  return 1e-12 * quantity::in_flops(op.forward) / quantity::in_seconds(prices.kernels.attention(op, false));
}

}  // namespace

// NVIDIA AIConfigurator, silicon database: the fastest forward kernel of each sequence length, heads of 128.
TEST_CASE("attention reaches the measured rates") {
  const Prices a100("a100-80-sxm");
  CHECK(teraflops(a100, causal(1024, 256)) == Approx(145).epsilon(0.15));
  CHECK(teraflops(a100, causal(4096, 64)) == Approx(176).epsilon(0.10));
  CHECK(teraflops(a100, causal(16384, 32)) == Approx(182).epsilon(0.10));
  const Prices h100("h100-sxm");
  CHECK(teraflops(h100, causal(1024, 256)) == Approx(398).epsilon(0.10));
  CHECK(teraflops(h100, causal(4096, 64)) == Approx(589).epsilon(0.10));
  CHECK(teraflops(h100, causal(16384, 32)) == Approx(672).epsilon(0.10));
}

// pytorch aten/src/ATen/native/transformers/cuda/mem_eff_attention/kernel_forward.h: blocks are skipped by the causal
// flag alone, never by what a mask adds to their scores.
TEST_CASE("a kernel that reads its mask takes as long as one without any") {
  const Prices a100("a100-80-sxm");
  layers::Op masked = causal(4096, 64);
  layers::Op whole = masked;
  masked.computes_masked = true;
  whole.forward += whole.masked;
  whole.masked = quantity::flops(0);
  whole.backward_input = 2.0 * masked.backward_input;
  whole.kernel_recompute = 2.0 * masked.kernel_recompute;
  for (const bool backward : {false, true}) {
    CHECK(quantity::in_seconds(a100.kernels.attention(masked, backward)) ==
          Approx(quantity::in_seconds(a100.kernels.attention(whole, backward))));
  }
}

// Shah et al. 2024 (arXiv:2407.08608): FlashAttention-3 is 1.5 to 2.0 times as fast as FlashAttention-2 on H100.
TEST_CASE("the kernels of a newer flash-attn run where its package is named") {
  const auto rate = [](const std::string& release) {
    return teraflops(Prices("h100-sxm", " --framework torch --dtype bf16 --attention flash" + release),
                     causal(4096, 64));
  };
  CHECK(rate(" --framework-version flash-attn==2.8") == rate(""));
  CHECK(rate(" --framework-version flash-attn==3.0") / rate("") == Approx(1.75).margin(0.25));
}

// gau-nernst/learn-cuda, 07_attention/README.md: 4 x 8 heads, 4096 queries of 8192 keys without a mask on RTX 5090;
// nothing was fitted to the runs with 400 W, which are as fast.
TEST_CASE("attention hides its exponentials where products are slow") {
  layers::Op op = causal(4096, 32);
  op.product.n = 8192;
  op.forward = quantity::flops(4.0 * 4096 * 8192 * 128 * 32);
  op.masked = quantity::flops(0);
  const Prices package("rtx-5090", " --framework hf --attention flash --dtype bf16");
  CHECK(teraflops(package, op) == Approx(190.6).epsilon(0.05));
  CHECK(teraflops(Prices("rtx-5090"), op) == Approx(197.5).epsilon(0.05));
}

// gpu-mode/ring-attention issue 10, RTX A5000, FlashAttention-2 without a mask, 16k tokens of 32 heads of 64: forward
// and backward in TFLOP/s.
TEST_CASE("attention on a graphics card's full die waits half as long for its exponentials") {
  const Prices a5000("rtx-a5000", " --framework hf --attention flash --dtype bf16");
  const auto check = [&](std::int64_t seq, double forward, double backward) {
    layers::Op op = causal(seq, 32 * 16384 / seq, 64);
    op.forward += op.masked;
    op.masked = quantity::flops(0);
    op.backward_input = 2.0 * op.forward;
    op.kernel_recompute = 0.5 * op.forward;
    CHECK(teraflops(a5000, op) == Approx(forward).epsilon(0.08));
    CHECK(1e-12 * 2.5 * quantity::in_flops(op.forward) / quantity::in_seconds(a5000.kernels.attention(op, true)) ==
          Approx(backward).epsilon(0.15));
  };
  check(1024, 81.0, 62.5);
  check(4096, 81.7, 74.8);
  check(8192, 81.9, 77.4);
}

// Dao-AILab/flash-attention issue 1310, H20, causal, 2 x 2048 tokens: cuDNN and FlashAttention-2.
TEST_CASE("attention on H20 hides everything beside its products") {
  const Prices h20("h20");
  CHECK(teraflops(h20, causal(2048, 32)) == Approx(107.8).epsilon(0.08));
  CHECK(teraflops(h20, causal(2048, 64, 64)) == Approx(109.1).epsilon(0.08));
  const Prices package("h20", " --framework hf --attention flash --dtype bf16");
  CHECK(teraflops(package, causal(2048, 32)) == Approx(65.9).epsilon(0.12));
  CHECK(teraflops(package, causal(2048, 64, 64)) == Approx(71.0).epsilon(0.08));
}

// SimuMax, sdp_fwd at s = 4096 with heads of 128; its shares count the masked half as well.
TEST_CASE("few heads leave units without work") {
  const Prices b200("b200-sxm");
  CHECK(teraflops(b200, causal(4096, 64)) == Approx(0.8715 / 2 * 2250).epsilon(0.10));
  CHECK(teraflops(b200, causal(4096, 16)) == Approx(0.578 / 2 * 2250).epsilon(0.15));
  CHECK(teraflops(b200, causal(4096, 4)) == Approx(0.167 / 2 * 2250).epsilon(0.30));
}

// SimuMax, sdp_bwd over sdp_fwd at s = 4096, 64 heads of 128: A100 1.005 of 1.187, B200 0.729 of 0.872; the backward
// kernel does 2.5 times the work.
TEST_CASE("the backward kernel takes about three times as long") {
  const auto factor = [](const char* gpu) {
    const Prices prices(gpu);
    const auto op = causal(4096, 64);
    return prices.kernels.attention(op, true) / prices.kernels.attention(op, false);
  };
  CHECK(factor("a100-80-sxm") == Approx(2.5 * 1.187 / 1.005).epsilon(0.10));
  CHECK(factor("b200-sxm") == Approx(2.5 * 0.872 / 0.729).epsilon(0.10));
}

// Shah et al. 2024, arXiv:2407.08608, figure 5, causal forward at 16k: heads of 64 reach 497 TFLOP/s, of 128 616.
TEST_CASE("heads of 64 are slower") {
  const Prices h100("h100-sxm");
  const double ratio = teraflops(h100, causal(16384, 64, 64)) / teraflops(h100, causal(16384, 32));
  CHECK(ratio == Approx(497.0 / 616).epsilon(0.05));
}

// Dao 2023, arXiv:2307.08691 §4.1: 1.3 to 2.5 times as fast as FlashAttention in Triton.
TEST_CASE("llm-foundry's Triton kernel is slower than FlashAttention-2") {
  const auto op = causal(8192, 32);
  const double ratio = teraflops(Prices("a100-80-sxm"), op) /
                       teraflops(Prices("a100-80-sxm", " --framework composer --attention flash --dtype bf16"), op);
  CHECK(ratio > 1.3);
  CHECK(ratio < 2.5);
}

// Shah et al. 2024, abstract: FlashAttention-3 is 1.5 to 2.0 times as fast as FlashAttention-2 on H100.
TEST_CASE("Hopper needs a kernel of its own") {
  const auto op = causal(8192, 32);
  const double native = teraflops(Prices("h100-sxm"), op);
  const double package = teraflops(Prices("h100-sxm", " --framework hf --attention flash --dtype bf16"), op);
  const double torch_2_5 = teraflops(
      Prices("h100-sxm", " --framework torchtitan --attention sdpa --dtype bf16 --framework-version torch 2.5.1"), op);
  CHECK(native / package > 1.5);
  CHECK(native / package < 2.0);
  CHECK(torch_2_5 == Approx(package));
}

// transformers models/gemma2/modeling_gemma2.py: _supports_sdpa is true in the wheel of 5.20.1 and false in that
// of 5.21.0.
TEST_CASE("capped scores are written out since the release that has no sdpa for them") {
  const auto attention = [](const std::string& release) {
    const auto step = test::step_of("--model gemma-2-2b --framework hf --attention sdpa --gpu h100-sxm --method full " +
                                    ("--framework-version transformers==" + release));
    return in_seconds(step.forward.attention);
  };
  CHECK(attention("5.20.1") > 0.0);
  CHECK(attention("5.21.0") == 0.0);
}

// Dao 2023, arXiv:2307.08691, figure 4: the kernel before FlashAttention-2 is as fast with heads of 64 as with 128.
TEST_CASE("old kernels do not wait for the exponentials of narrow heads") {
  const auto narrow_over_wide = [](const std::string& words) {
    const Prices prices("a100-80-sxm", words);
    return teraflops(prices, causal(16384, 64, 64)) / teraflops(prices, causal(16384, 32, 128));
  };
  CHECK(narrow_over_wide(" --framework composer --dtype bf16 --attention flash") == Approx(1.0).epsilon(0.03));
  CHECK(narrow_over_wide(" --framework deepspeed --dtype bf16 --attention flash") < 0.9);
}
