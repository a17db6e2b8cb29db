// Micro-batches in flight and the stages of a pipeline.

#include "../program/questions.hpp"
#include "catch.hpp"
#include "llmcalc/memory/step_walk.hpp"

using namespace llmcalc;
using quantity::in_bytes;
using spec::Dtype;

namespace {

/// GPT-3 175B as Korthikanti et al. 2022 run it: t 8, p 8, v 3, sequence parallelism and selective recomputation.
spec::Question gpt3(std::int64_t pp, std::int64_t vpp, std::int64_t micro_batches) {
  auto q = test::ask(test::gpt_shape(96, 12288, 96, 51200, 2048), 2048, 1);
  q.layout.tp = 8;
  q.layout.sp = true;
  q.layout.pp = pp;
  q.layout.vpp = vpp;
  q.layout.gpus = 8 * pp;
  q.training.grad_accum = micro_batches;
  return q;
}

double activations_gib(const spec::Question& q, std::int64_t stage) {
  const auto profile = program::make_profile(q.training, q.gpu);
  const auto program = program::build_program(q, profile);
  const auto memory = memory::StepWalk(program, q, profile).walk(stage);
  return quantity::in_gib(memory.steady[static_cast<std::size_t>(memory::Phase::backward)].alive.activations);
}

constexpr double layer_gib = 2048.0 * 12288 * 34 / 8 / (1 << 30);

}  // namespace

TEST_CASE("the first stage of 1F1B holds the layers of one whole micro-batch (Korthikanti et al. 2022 section 4.2.3)") {
  CHECK(activations_gib(gpt3(8, 1, 64), 0) == Approx(96 * layer_gib).epsilon(0.01));
}

TEST_CASE("interleaving raises the first stage to L(1 + (p-1)/pv) layers: 12.35 GiB for 175B (their figure 1)") {
  CHECK(activations_gib(gpt3(8, 3, 64), 0) == Approx(12.3516).epsilon(0.01));
}

TEST_CASE("later stages hold fewer micro-batches, and no more than there are") {
  CHECK(activations_gib(gpt3(8, 1, 64), 6) == Approx(2 * 12 * layer_gib).epsilon(0.01));
  CHECK(activations_gib(gpt3(8, 1, 2), 0) == Approx(2 * 12 * layer_gib).epsilon(0.01));
}

TEST_CASE("with tied embeddings the last of several stages holds a copy of the table") {
  const auto weights_of_last = [](bool tied) {
    auto shape = test::gpt_shape(12, 512, 8, 50304, 1024);
    shape.tied = tied;
    auto q = test::ask(shape, 1024, 4);
    q.layout.pp = 2;
    q.layout.gpus = 2;
    const auto profile = program::make_profile(q.training, q.gpu);
    const auto program = program::build_program(q, profile);
    return in_bytes(memory::StepWalk(program, q, profile).walk(1).persistent.weights);
  };
  // 44,670,976 parameters on the last of two stages of Megatron-LM's 12-layer test model.
  CHECK(weights_of_last(true) == 2 * 44'670'976);
  CHECK(weights_of_last(true) == weights_of_last(false));
}

TEST_CASE("a measured Megatron-LM run: 7B on tp 4, dp 2 with the distributed optimizer") {
  // tests/functional_tests/test_cases/gpt/gpt3_7b_tp4_pp1_memory_speed, H100: 57,143,791,616 bytes at the peak of the
  // steady step, 50,289,487,872 in the first; between steps 20,663,519,232.
  auto shape = test::gpt_shape(32, 4096, 32, 131584, 8192);
  shape.kv_heads = 8;
  shape.tied = false;
  auto q = test::ask(shape, 8192, 2);
  q.training.framework = spec::Framework::megatron;
  q.training.precision = {Dtype::bf16, Dtype::bf16, Dtype::fp32, false, true, false, Dtype::fp32};
  q.training.grad_accum = 2;
  q.layout.tp = 4;
  q.layout.dp = 2;
  q.layout.gpus = 8;
  q.layout.sharding = spec::Sharding::zero1;
  const auto profile = program::make_profile(q.training, q.gpu);
  const auto program = program::build_program(q, profile);
  const auto memory = memory::StepWalk(program, q, profile).walk(0);
  CHECK(static_cast<double>(in_bytes(memory.peak().alive.total())) == Approx(57'143'791'616.0).epsilon(0.005));
  CHECK(static_cast<double>(in_bytes(memory.first_peak().alive.total())) == Approx(50'289'487'872.0).epsilon(0.005));
  CHECK(static_cast<double>(in_bytes(memory.persistent.total())) == Approx(20'663'519'232.0).epsilon(0.005));
}
