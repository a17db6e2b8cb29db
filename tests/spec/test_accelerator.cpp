#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/spec/accelerator.hpp"

#include <initializer_list>
#include <utility>

using namespace llmcalc;
using formats::Dtype;
using quantity::teraflops;
using spec::matrix_peak;

namespace {

using Peaks = spec::Accelerator::Peaks;
using Rating = std::pair<std::optional<quantity::FlopRate> Peaks::*, double>;

spec::Accelerator part(std::initializer_list<Rating> ratings) {
  spec::Accelerator gpu;
  gpu.id = "part";
  for (const auto& [peak, tflops] : ratings) gpu.peaks.*peak = teraflops(tflops);
  return gpu;
}

/// NVIDIA H100 SXM5 data sheet, dense.
spec::Accelerator h100() {
  return part({{&Peaks::fp64, 33.5},
               {&Peaks::fp64_matrix, 66.9},
               {&Peaks::fp32, 66.9},
               {&Peaks::tf32, 494.7},
               {&Peaks::fp16, 989.4},
               {&Peaks::bf16, 989.4},
               {&Peaks::fp8, 1978.9},
               {&Peaks::int8, 1978.9}});
}

/// NVIDIA V100 SXM2 data sheet: tensor cores for fp16 only.
spec::Accelerator v100() { return part({{&Peaks::fp64, 7.8}, {&Peaks::fp32, 15.7}, {&Peaks::fp16, 125}}); }

/// AMD Instinct MI100 data sheet: bf16 at half the rate of fp16, fp32 matrix cores.
spec::Accelerator mi100() {
  return part({{&Peaks::fp32, 23.1}, {&Peaks::fp32_matrix, 46.1}, {&Peaks::fp16, 184.6}, {&Peaks::bf16, 92.3}});
}

}  // namespace

TEST_CASE("a type that the part has runs at its own peak") {
  CHECK(matrix_peak(h100(), Dtype::bf16) == teraflops(989.4));
  CHECK(matrix_peak(h100(), Dtype::fp8_e4m3) == teraflops(1978.9));
  CHECK(matrix_peak(h100(), Dtype::tf32) == teraflops(494.7));
  CHECK(matrix_peak(h100(), Dtype::fp64) == teraflops(66.9));
  CHECK(matrix_peak(mi100(), Dtype::bf16) == teraflops(92.3));
  CHECK(matrix_peak(mi100(), Dtype::fp16) == teraflops(184.6));
}

TEST_CASE("plain fp32 products do not borrow the TF32 peak") {
  CHECK(matrix_peak(h100(), Dtype::fp32) == teraflops(66.9));
  CHECK(matrix_peak(mi100(), Dtype::fp32) == teraflops(46.1));
  CHECK(matrix_peak(v100(), Dtype::tf32) == teraflops(15.7));
}

/// jax.lax.Precision.DEFAULT: on a TPU one pass of bf16 with fp32 accumulation.
TEST_CASE("matrix units without fp32 round to bf16") {
  CHECK(matrix_peak(part({{&Peaks::bf16, 197}, {&Peaks::int8, 394}}), Dtype::fp32) == teraflops(197));
  CHECK(matrix_peak(part({{&Peaks::bf16, 197}}), Dtype::tf32) == teraflops(197));
}

TEST_CASE("a type that the part lacks runs at the peak of the next wider one") {
  CHECK(matrix_peak(v100(), Dtype::bf16) == teraflops(15.7));
  CHECK(matrix_peak(v100(), Dtype::mxfp8) == teraflops(125));
  CHECK(matrix_peak(mi100(), Dtype::fp8_e5m2) == teraflops(92.3));
  CHECK(matrix_peak(h100(), Dtype::nvfp4) == teraflops(1978.9));
  CHECK(matrix_peak(part({{&Peaks::bf16, 275}}), Dtype::fp16) == teraflops(275));
  CHECK(matrix_peak(part({{&Peaks::fp32, 10}}), Dtype::mxfp4) == teraflops(10));
}

TEST_CASE("the peak of 16-bit products is that of either type") {
  CHECK(half_peak(v100()) == teraflops(125));
  CHECK(half_peak(mi100()) == teraflops(92.3));
  CHECK(half_peak(h100()) == teraflops(989.4));
}

TEST_CASE("weight-only formats multiply in 16 bits") {
  CHECK(matrix_peak(v100(), Dtype::nf4) == teraflops(125));
  CHECK(matrix_peak(h100(), Dtype::nf4) == teraflops(989.4));
  CHECK(matrix_peak(h100(), Dtype::int4_gptq) == teraflops(989.4));
  CHECK(matrix_peak(h100(), Dtype::int8) == teraflops(1978.9));
}

TEST_CASE("a part that cannot carry the type says so") {
  const auto tpu = part({{&Peaks::bf16, 275}, {&Peaks::int8, 275}});
  CHECK_THROWS_AS(matrix_peak(tpu, Dtype::fp64), quantity::BadInput);
  CHECK_THROWS_WITH(matrix_peak(tpu, Dtype::fp64), Catch::Matchers::Contains("fp64"));
}
