// Bytes of the key-value cache a token, and textbook sizes of weights at rest.

#include "asked.hpp"
#include "catch.hpp"

using namespace llmcalc;
using quantity::in_bytes;

namespace {

/// Cache tensors of all layers, of one token in bf16.
std::int64_t cache_bytes(const std::string& model) {
  const test::Asked run("--model " + model + " --method inference --weights bf16 --seq 64 --micro-batch 1");
  std::int64_t sum = 0;
  for (const auto index : run.program.sequence) {
    for (const auto& tensor : run.program.blocks[index].tensors) {
      if (tensor.name.ends_with("cache")) sum += in_bytes(tensor.size);
    }
  }
  return sum / 64;
}

std::int64_t weight_bytes(const std::string& words) {
  const test::Asked run("--params 20e9 --method inference " + words);
  return in_bytes(memory::StepWalk(run.program, run.question, run.profile).walk(0).persistent.weights);
}

}  // namespace

TEST_CASE("the cache takes 2*L*g*d elements a token, or the latent of MLA") {
  CHECK(cache_bytes("llama-2-7b") == 524'288);
  CHECK(cache_bytes("llama-3-8b") == 131'072);
  CHECK(cache_bytes("llama-3-70b") == 327'680);
  CHECK(cache_bytes("llama-3.1-405b") == 516'096);
  CHECK(cache_bytes("deepseek-v3") == 70'272);  // 61 * (512 + 64) * 2
}

TEST_CASE("20B parameters rest in 80 GB of fp32, 40 of fp16, 20 of int8 and 10 of int4") {
  CHECK(weight_bytes("--weights fp32") == 80'000'000'000);
  CHECK(weight_bytes("--weights fp16") == 40'000'000'000);
  CHECK(weight_bytes("--weights int8") == 20'000'000'000);
  CHECK(weight_bytes("--weights int4") == 10'000'000'000);
}
