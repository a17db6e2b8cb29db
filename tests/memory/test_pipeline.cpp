// Micro-batches in flight and the stages of a pipeline.

#include "../program/questions.hpp"
#include "catch.hpp"
#include "memory/step_walk.hpp"

#include <optional>
#include <vector>

using namespace llmcalc;
using formats::Dtype;
using quantity::in_bytes;

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
  const auto profile = frameworks::make_profile(q.training, q.gpu);
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

TEST_CASE(
    "GPipe keeps all micro-batches on every stage, the last one their losses too (Huang et al. 2018 section 2.3)") {
  auto q = gpt3(8, 1, 16);
  q.layout.schedule = spec::Schedule::gpipe;
  for (const std::int64_t stage : {0, 3, 6})
    CHECK(activations_gib(q, stage) == Approx(16 * 12 * layer_gib).epsilon(0.01));
  // Korthikanti et al. 2022 section 4.1: fp32 logits 4sbv, inputs of norm and head 4sbh, all cut by t; h 12288, v
  // 51200.
  constexpr double head_gib = 2048.0 * (4 * 51200 + 4 * 12288) / 8 / (1 << 30);
  CHECK(activations_gib(q, 7) == Approx(16 * 12 * layer_gib + 15 * head_gib).epsilon(0.01));
}

TEST_CASE("a pipeline of one stage holds one micro-batch, whatever its schedule") {
  auto q = gpt3(1, 1, 16);
  const double alone = activations_gib(q, 0);
  for (const auto schedule : {spec::Schedule::gpipe, spec::Schedule::zero_bubble}) {
    q.layout.schedule = schedule;
    CHECK(activations_gib(q, 0) == alone);
  }
}

TEST_CASE(
    "ZB-H1: stage r of p keeps p - r micro-batches, and r for their weights' gradients (Qi et al. 2023 table 1)") {
  // Without parallelism inside the stage a layer keeps 34sbh for its backward pass and 32sbh for its weights'
  // gradients.
  auto q = test::ask(test::gpt_shape(8, 4096, 32, 51200, 2048), 2048, 1);
  q.layout.pp = q.layout.gpus = 4;
  q.training.grad_accum = 16;
  const double sbh_gib = 2048.0 * 4096 / (1 << 30);
  const auto kept_gib = [&](double stage) { return 2 * sbh_gib * ((4 - stage) * 34 + stage * 32); };
  const double one_f_one_b = activations_gib(q, 0);
  q.layout.schedule = spec::Schedule::zero_bubble;
  CHECK(activations_gib(q, 0) == Approx(one_f_one_b).epsilon(0.02));  // its promise: the peak of 1F1B (section 2.1)
  for (const std::int64_t stage : {0, 1, 2}) {
    INFO(stage);
    CHECK(activations_gib(q, stage) == Approx(kept_gib(static_cast<double>(stage))).epsilon(0.02));
  }
}

TEST_CASE("ZB-H1 on the last stage: the head waits for its gradient too") {
  auto q = test::ask(test::gpt_shape(8, 4096, 32, 51200, 2048), 2048, 1);
  q.layout.pp = q.layout.gpus = 4;
  q.training.grad_accum = 16;
  q.layout.schedule = spec::Schedule::zero_bubble;
  const double sbh_gib = 2048.0 * 4096 / (1 << 30);
  const double head_gib = 2048.0 * (2 * 4096 + 2 * 51200) / (1 << 30);  // its input and its logits' gradient
  CHECK(activations_gib(q, 3) == Approx(2 * sbh_gib * (34 + 3 * 32) + 3 * head_gib).epsilon(0.02));
}

TEST_CASE("a deferred weight gradient outlives its own backward pass where recomputation left little before it") {
  auto q = test::ask(test::gpt_shape(8, 4096, 32, 51200, 2048), 2048, 1);
  q.layout.pp = q.layout.gpus = 4;
  q.training.grad_accum = 16;
  q.training.recompute.policy = spec::RecomputePolicy::full;
  q.layout.schedule = spec::Schedule::zero_bubble;
  // On stage 2: at the end of a backward pass one other micro-batch keeps its inputs and three keep 32sbh a layer, one
  // of them but for the layer that is still running.
  const double sbh_gib = 2048.0 * 4096 / (1 << 30);
  CHECK(activations_gib(q, 2) == Approx(sbh_gib * (2 * 2 + 5 * 32)).epsilon(0.05));
}

TEST_CASE("the first and the last stage may have layers of their own, the others share the rest") {
  const auto layers_of = [](std::int64_t vpp, std::optional<std::int64_t> first, std::optional<std::int64_t> last) {
    auto q = gpt3(4, vpp, 8);
    q.layout.first_stage_layers = first;
    q.layout.last_stage_layers = last;
    const auto program = test::program_of(q);
    std::vector<std::int64_t> layers;
    for (const auto& chunk : program.chunks) layers.push_back(chunk.last - chunk.first);
    --layers.front();  // the embedding
    --layers.back();   // the head
    return layers;
  };
  using Layers = std::vector<std::int64_t>;
  CHECK(layers_of(1, {}, {}) == Layers{24, 24, 24, 24});
  CHECK(layers_of(1, 21, {}) == Layers{21, 25, 25, 25});
  CHECK(layers_of(1, {}, 18) == Layers{26, 26, 26, 18});
  CHECK(layers_of(1, 22, 24) == Layers{22, 25, 25, 24});
  // Virtual stages take turns: Megatron-LM transformer_layer.py, get_transformer_layer_offset.
  CHECK(layers_of(2, 20, 20) == Layers{10, 14, 14, 10, 10, 14, 14, 10});
}

TEST_CASE("with tied embeddings the last of several stages holds a copy of the table") {
  const auto weights_of_last = [](bool tied) {
    auto shape = test::gpt_shape(12, 512, 8, 50304, 1024);
    shape.tied = tied;
    auto q = test::ask(shape, 1024, 4);
    q.layout.pp = 2;
    q.layout.gpus = 2;
    const auto profile = frameworks::make_profile(q.training, q.gpu);
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
  q.training.precision = {.weights = Dtype::bf16, .compute = Dtype::bf16, .grads = Dtype::fp32, .master = true};
  q.training.grad_accum = 2;
  q.layout.tp = 4;
  q.layout.dp = 2;
  q.layout.gpus = 8;
  q.layout.sharding = spec::Sharding::zero1;
  const auto profile = frameworks::make_profile(q.training, q.gpu);
  const auto program = program::build_program(q, profile);
  const auto memory = memory::StepWalk(program, q, profile).walk(0);
  CHECK(static_cast<double>(in_bytes(memory.peak().alive.total())) == Approx(57'143'791'616.0).epsilon(0.005));
  CHECK(static_cast<double>(in_bytes(memory.first_peak().alive.total())) == Approx(50'289'487'872.0).epsilon(0.005));
  CHECK(static_cast<double>(in_bytes(memory.persistent.total())) == Approx(20'663'519'232.0).epsilon(0.005));
}
