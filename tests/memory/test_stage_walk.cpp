// A walk that steps over equal layers, against the one that stops at every block and every stage.

#include "asked.hpp"
#include "catch.hpp"

using namespace llmcalc;
using quantity::in_bytes;

namespace {

constexpr std::string_view runs[] = {
    "--model llama-3-8b --gpus 1 --framework hf --recompute full",
    "--model llama-3-70b --tp 8 --pp 4 --gpus 64 --framework megatron --grad-accum 8",
    "--model llama-3.1-405b --tp 8 --pp 16 --vpp 2 --gpus 256 --framework megatron --grad-accum 16 --zero 1",
    "--model gpt3-175b --tp 8 --pp 8 --vpp 4 --gpus 64 --grad-accum 64",
    "--model deepseek-v3 --pp 16 --ep 8 --gpus 128 --framework megatron --zero 1 --grad-accum 32",
    "--model gpt3-175b --tp 8 --pp 8 --gpus 64 --grad-accum 64 --schedule zero-bubble --recompute full",
    "--model gpt3-175b --tp 8 --pp 8 --gpus 64 --grad-accum 5 --schedule zero-bubble",
    "--model gpt3-175b --tp 8 --pp 8 --gpus 64 --grad-accum 8 --schedule gpipe",
    "--model gemma-2-9b --gpus 8 --framework torchtitan --sharding fsdp2",
    "--model gemma-3-12b --pp 4 --gpus 8 --framework generic",
    "--model llama-3-8b --gpus 8 --framework deepspeed --zero 3 --offload params+optimizer",
    "--model llama-3-8b --gpus 8 --framework torchtune --method lora --sharding fsdp2 --offload activations",
    "--model llama-3-8b --gpus 4 --framework hf --method lora --sharding fsdp1 --grad-accum 2",
    "--model t5-11b --gpus 1 --framework hf",
    "--model llama-2-7b --gpus 1 --framework torch --optimizer lomo",
    "--model llama-3-70b --tp 8 --pp 4 --gpus 32 --framework generic --grad-accum 8 --recompute full --offload "
    "activations",
};

}  // namespace

TEST_CASE("the peak over runs of equal blocks is the highest moment of all blocks") {
  for (const auto line : runs) {
    CAPTURE(line);
    const test::Asked asked(line);
    const memory::StepWalk step(asked.program, asked.question, asked.profile);
    for (std::int64_t stage = 0; stage < asked.question.layout.pp; ++stage) {
      const auto points = step.timeline(stage);
      const auto highest = std::ranges::max_element(points, {}, &memory::BlockPeak::allocated);
      const auto peak = step.walk(stage).peak();
      CHECK(in_bytes(peak.alive.total()) == in_bytes(highest->allocated()));
      CHECK(peak.position == highest->position);
      CHECK(peak.phase == highest->phase);
    }
  }
}

TEST_CASE("the worst of the stages that differ is the worst of all stages, on the accelerator and on the host") {
  for (const auto line : runs) {
    CAPTURE(line);
    const test::Asked asked(line);
    const memory::StepWalk step(asked.program, asked.question, asked.profile);
    auto highest = quantity::bytes(0);
    auto host = quantity::bytes(0);
    for (std::int64_t stage = 0; stage < asked.question.layout.pp; ++stage) {
      const auto memory = step.walk(stage);
      highest = std::max(highest, memory.peak().alive.total());
      host = std::max(host, memory.host);
    }
    CHECK(in_bytes(step.walk_worst().peak().alive.total()) == in_bytes(highest));
    CHECK(in_bytes(step.highest_host()) == in_bytes(host));
  }
}

TEST_CASE("405B on 16 stages of a framework that counts layers alone has four that differ") {
  const test::Asked asked("--model llama-3.1-405b --tp 8 --pp 16 --gpus 128 --framework pax");
  CHECK(program::stage_groups(asked.program).size() == 4);  // with the table, whole, one layer short, with the head
}

/// 126 layers and the two ends are 128: NVIDIA trains it on 16 stages of 8 virtual ones (Megatron-Bridge, performance
/// recipes of Llama 3.1 405B on GB200).
TEST_CASE("Megatron counts embedding and loss as layers where 405B would not come out even") {
  const std::string line =
      "--model llama-3.1-405b --framework megatron --tp 4 --pp 16 --grad-accum 16 --gpus 64 --vpp ";
  const test::Asked one(line + "1");
  CHECK(program::stage_groups(one.program).size() == 3);  // 7 layers and the table, 8, 7 and the head
  const test::Asked eight(line + "8");
  REQUIRE(eight.program.chunks.size() == 128);
  for (const program::Chunk& chunk : eight.program.chunks) CHECK(chunk.last - chunk.first == 1);
}
