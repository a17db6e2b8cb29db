// What adapters add to a step.

#include "catch.hpp"
#include "timing/kernel_prices.hpp"
#include "timing/steps.hpp"

using namespace llmcalc;

/// An A100 multiplies 19.5 TFLOP/s in fp32 (NVIDIA A100 data sheet), and PyTorch rounds no fp32 to TF32 unasked.
TEST_CASE("products in fp32 leave the matrix units idle") {
  const test::Prices run("a100-80-sxm", " --framework hf --dtype bf16");
  CHECK(quantity::in_seconds(run.kernels.wide_product(quantity::flops(19.5e12))) > 1.0);
}

/// huggingface/peft method_comparison/MetaMathQA/results/lora--llama-3.2-3B-rank10-target-mlp.json and
/// prefixtuning--llama-3.2-3B-lr_0.001.json: 145.3 and 109.6 ms.
TEST_CASE("adapters of an MLP add to a step what they were measured to add, within a tenth") {
  const auto milliseconds = [](const std::string& method) {
    const std::string run =
        "--model llama-3.2-3b --framework hf --weights bf16 --compute bf16 --gpu l40s --seq 225 "
        "--micro-batch 4 --attention sdpa --method ";
    return 1e3 * quantity::in_seconds(test::step_of(run + method).total());
  };
  const double adapters = milliseconds("lora --lora-rank 10 --lora-targets gate,up,down --lora-dropout 0");
  CHECK(adapters - milliseconds("prefix --virtual-tokens 200") == Approx(35.7).epsilon(0.10));
}

TEST_CASE("only Ada's cache was measured to make kernels faster") {
  const test::Prices l40s("l40s", " --framework hf --dtype bf16");
  CHECK(l40s.kernels.caches(quantity::mib(96)));
  CHECK_FALSE(l40s.kernels.caches(quantity::mib(97)));
  const auto moved = quantity::mib(30);
  CHECK(l40s.kernels.cached_stream(moved) < l40s.kernels.stream(moved));
  CHECK_FALSE(test::Prices("h100-sxm", " --framework hf --dtype bf16").kernels.caches(quantity::mib(1)));
}
