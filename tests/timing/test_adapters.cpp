// What adapters add to a step.

#include "catch.hpp"
#include "timing/kernel_prices.hpp"

using namespace llmcalc;

/// An A100 multiplies 19.5 TFLOP/s in fp32 (NVIDIA A100 data sheet), and PyTorch rounds no fp32 to TF32 unasked.
TEST_CASE("products in fp32 leave the matrix units idle") {
  const test::Prices run("a100-80-sxm", " --framework hf --dtype bf16");
  CHECK(quantity::in_seconds(run.kernels.wide_product(quantity::flops(19.5e12))) > 1.0);
}
