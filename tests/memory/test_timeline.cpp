// The moments of a step in time order.

#include "../program/questions.hpp"
#include "catch.hpp"
#include "memory/step_walk.hpp"

#include <algorithm>

using namespace llmcalc;
using memory::BlockPeak;
using memory::Phase;
using quantity::in_bytes;

namespace {

spec::Question small_gpt() { return test::ask(test::gpt_shape(4, 512, 8, 50304, 1024), 1024, 2); }

struct Walked {
  memory::StepMemory memory;
  std::vector<BlockPeak> points;
};

Walked walk_stage(const spec::Question& q, std::int64_t stage) {
  const auto profile = frameworks::make_profile(q.training, q.gpu);
  const auto program = program::build_program(q, profile);
  const memory::StepWalk step(program, q, profile);
  return {step.walk(stage), step.timeline(stage)};
}

}  // namespace

TEST_CASE("a step goes forward through all blocks, back through all, and ends in the optimizer") {
  const auto points = walk_stage(small_gpt(), 0).points;
  REQUIRE(points.size() == 13);  // embedding, 4 layers and head, twice, and the optimizer step
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(points[i].position == static_cast<std::int64_t>(i));
    CHECK(points[i].phase == (i < 5 ? Phase::forward : Phase::loss));
    CHECK(points[6 + i].position == static_cast<std::int64_t>(5 - i));
    CHECK(points[6 + i].phase == Phase::backward);
  }
  CHECK(points.back().phase == Phase::optimizer);
}

TEST_CASE("each further layer raises the forward pass by what a layer keeps: 34sbh bytes (Korthikanti et al. 2022)") {
  const auto points = walk_stage(small_gpt(), 0).points;
  for (std::size_t layer = 2; layer <= 4; ++layer) {
    CHECK(in_bytes(points[layer].allocated() - points[layer - 1].allocated()) == 34 * 1024 * 2 * 512);
  }
}

TEST_CASE("the highest point of each phase is that phase's peak, on every stage") {
  for (const auto framework : {spec::Framework::generic, spec::Framework::hf, spec::Framework::megatron}) {
    for (const std::int64_t stage : {0, 1}) {
      auto q = small_gpt();
      q.training.framework = framework;
      q.training.grad_accum = 4;
      q.layout.pp = q.layout.gpus = 2;
      const auto [step, points] = walk_stage(q, stage);
      for (const auto& peak : step.steady) {
        std::int64_t highest = 0;
        for (const auto& point : points) {
          if (point.phase == peak.phase) highest = std::max(highest, in_bytes(point.allocated()));
        }
        CHECK(highest == in_bytes(peak.alive.total()));
      }
    }
  }
}
