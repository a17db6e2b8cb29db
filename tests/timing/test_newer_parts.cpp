// What newer parts and recipes do faster: exponentials, attention in 8 bits, the link to the host; and documents.

#include "catch.hpp"
#include "timing/kernel_prices.hpp"
#include "timing/steps.hpp"

using namespace llmcalc;
using quantity::in_seconds;
using test::step_of;

namespace {

double attention_of(const std::string& line) {
  const auto step = step_of(line);
  return in_seconds(step.forward.attention + step.backward.attention);
}

std::string llama(const std::string& gpu) {
  return "--model llama-3-8b --framework megatron --seq 8192 --recompute none --compute fp8 --gpu " + gpu + " ";
}

}  // namespace

/// NVIDIA, "Inside NVIDIA Blackwell Ultra": twice the exponentials; what waits for them gains, products do not.
TEST_CASE("attention gains from the exponentials of Blackwell Ultra, most with small heads") {
  const double gain = attention_of(llama("b200")) / attention_of(llama("b300"));
  CHECK(gain > 1.10);
  CHECK(gain < 10.7 / 5.0);
}

/// NVIDIA AIConfigurator, silicon database, vllm 0.24.0, nvfp4: 16384 x 16384 x 8192 takes 913 us on GB200 and 858 on
/// GB300, and with twice the depth 2386 and 1987, though the data sheets state 10 and 15 PFLOP/s.
TEST_CASE("products in 4 bits gain from Blackwell Ultra what its power gives") {
  const layers::Product shape{.m = 16384, .n = 16384, .k = 16384, .count = 1};
  const std::string nvfp4 = " --framework megatron --dtype bf16 --compute nvfp4";
  const double gain = test::Prices("gb200", nvfp4).product_us(shape) / test::Prices("gb300", nvfp4).product_us(shape);
  CHECK(gain > 913.3 / 857.6);
  CHECK(gain < 2386.0 / 1986.8);
}

/// Shah et al. 2024, arXiv:2407.08608 figure 7: 1.2 PFLOP/s in FP8 where 16 bits reach 0.74.
TEST_CASE("attention in 8 bits is 1.5 to 1.7 times as fast on H100") {
  const double gain = attention_of(llama("h100-sxm")) / attention_of(llama("h100-sxm") + "--fp8-attention 1");
  CHECK(gain > 1.5);
  CHECK(gain < 1.7);
}

/// pytorch/ao torchao/float8/README.md, Llama 3 8B on eight H100: 6150 tokens/s in bf16, 6768 by row, 7689.5 by tensor.
TEST_CASE("scales by row cost a part of what 8 bits gain") {
  const auto seconds = [](const std::string& words) {
    const std::string run =
        "--model llama-3-8b --framework torchtitan --framework-version 2025-02 --seq 8192 --gpu h100-sxm:8 ";
    return in_seconds(step_of(run + "--compile 1 --micro-batch 1 --compute " + words).total());
  };
  const double by_tensor = seconds("fp8 --fp8-scaling tensor");
  const double by_row = seconds("fp8 --fp8-scaling row");
  CHECK(by_row < seconds("bf16"));
  CHECK(by_row / by_tensor > 1.03);
  CHECK(by_row / by_tensor < 7689.5 / 6768.0);
}

/// Megatron-LM --fp8-output-proj. Three products of 8,192 x 4,096 x 128,256 take 33 ms at the 794 TFLOP/s that bf16
/// reaches on H100 and 18 at the 1,403 of fp8 (stas00/ml-engineering, compute/accelerator/README.md).
TEST_CASE("a head in 8 bits gains what its three products do, and nothing else changes") {
  const auto seconds = [](const std::string& words) { return in_seconds(step_of(llama("h100-sxm") + words).total()); };
  const double gain = seconds("") - seconds("--fp8-head 1");
  CHECK(gain > 0.5 * (0.033 - 0.018));
  CHECK(gain < 1.5 * (0.033 - 0.018));
}

TEST_CASE("documents of an eighth of the sequence need about an eighth of the attention") {
  const double whole = attention_of(llama("h100-sxm"));
  const double packed = attention_of(llama("h100-sxm") + "--document-length 1024");
  CHECK(whole / packed > 4.0);
  CHECK(whole / packed < 8.0);
  CHECK(attention_of(llama("h100-sxm") + "--document-length 8192") == Approx(whole));
}

/// 225 GB/s of NVLink-C2C where an HGX part has 63 of PCIe 5.
TEST_CASE("offloaded activations leave over the host's link, some layers' or all") {
  const std::string line =
      "--model llama-3-70b --framework megatron --sharding fsdp2 --gpus 64 --seq 8192 --recompute none --gpu ";
  const auto offload = [&](const std::string& words) { return in_seconds(step_of(line + words).offload); };
  CHECK(offload("gb200 --offload activations") < offload("b200 --offload activations"));
  CHECK(offload("b200 --offload activations --offload-layers 40") < offload("b200 --offload activations"));
  CHECK(offload("b200 --offload activations --offload-layers 0") == 0.0);
  CHECK(offload("b200 --offload activations --offload-layers 80") ==
        Approx(offload("b200 --offload activations")).epsilon(0.1));
}

/// vTrain's and torchtitan's small products follow the clock, not the power.
TEST_CASE("power holds large products back, small ones not") {
  const test::Prices usual("h100-sxm");
  const test::Prices held("h100-sxm-500w");
  CHECK(held.product_us({256, 256, 4096}) == Approx(usual.product_us({256, 256, 4096})));
  CHECK(held.product_us({16384, 16384, 16384}) > 1.04 * usual.product_us({16384, 16384, 16384}));
}
