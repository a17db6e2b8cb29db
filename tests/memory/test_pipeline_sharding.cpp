// Weights that are sharded over data-parallel ranks inside a pipeline.

#include "catch.hpp"
#include "memory/asked.hpp"

using namespace llmcalc;

namespace {

constexpr std::string_view fsdp_run =
    "--model llama-3-8b --framework torchtitan --weights fp32 --autocast 1 --grads fp32 --seq 2048 --recompute full"
    " --gpu h100-sxm:16 --grad-accum 8 --sharding fsdp2";

}  // namespace

/// torchtitan models/llama3/infra/parallelize.py, apply_fsdp: in a pipeline nothing is resharded behind a forward pass;
/// torch/distributed/pipelining/stage.py reduces no gradient before the last backward pass.
TEST_CASE("FSDP2 keeps a pipeline stage whole from its first micro-batch to its last") {
  const test::Asked asked(std::string(fsdp_run) + " --pp 2");
  const auto step = asked.walk();
  const auto& backward = test::at(step, memory::Phase::backward);
  double layers = 0.0;  // of the first stage: half of the layers, and the token table
  for (const auto& w : asked.program.blocks[1].weights) layers += 16.0 * static_cast<double>(w.elements);
  const double stage = layers + 128256.0 * 4096.0;
  CHECK(static_cast<double>(in_bytes(backward.gradients)) == Approx(4.0 * stage).epsilon(0.01));
  CHECK(static_cast<double>(in_bytes(backward.weights)) == Approx(4.0 * stage / 8.0).epsilon(0.01));
  CHECK(static_cast<double>(in_bytes(backward.temporaries)) > 2.0 * stage);
}

TEST_CASE("without a pipeline FSDP2 keeps shards") {
  const test::Asked asked{std::string(fsdp_run)};
  const auto step = asked.walk();
  const auto& backward = test::at(step, memory::Phase::backward);
  const double whole = 8.03e9;
  CHECK(static_cast<double>(in_bytes(backward.gradients)) == Approx(4.0 * whole / 16.0).epsilon(0.01));
  CHECK(static_cast<double>(in_bytes(backward.temporaries)) < 2.0 * whole);
}
