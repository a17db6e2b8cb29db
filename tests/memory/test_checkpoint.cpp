// What writing a checkpoint takes, counted by hand from the published sizes of Llama 3 8B: 8,030,261,248
// all_parameters, of which 525,336,576 each in the embedding and the head, 4,096 in the last norm and 218,112,000 in
// each of 32 layers.
#include "asked.hpp"
#include "catch.hpp"
#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/quantity/error.hpp"
#include "timing/goodput.hpp"

using namespace llmcalc;
using memory::Phase;
using quantity::in_bytes;

namespace {

constexpr std::int64_t all_parameters = 8'030'261'248;
constexpr std::int64_t embedding = 525'336'576;
constexpr std::int64_t outside_layers = 2 * embedding + 4'096;
constexpr std::int64_t layer = 218'112'000;

memory::CheckpointNeeds needs(std::string_view words) {
  const test::Asked asked("--model llama-3-8b --gpu h100-sxm:8 --seq 1k --micro-batch 1 " + std::string(words));
  return memory::highest_checkpoint_needs(asked.program, asked.question);
}

answer::Estimate estimate(std::string_view words) {
  return answer::estimate(test::question_of("--model llama-3-8b --seq 1k --micro-batch 1 " + std::string(words)));
}

}  // namespace

TEST_CASE("a full state dict is a clone of all weights beside the unit outside the layers, on every card") {
  const auto full = needs("--framework torch --sharding fsdp1 --save-checkpoint full");
  CHECK(in_bytes(full.accelerator) == 2 * all_parameters + 2 * outside_layers);
  CHECK(in_bytes(full.host_of_first) == 2 * embedding);
}

TEST_CASE("with offload_to_cpu a unit is gathered at a time, and the first rank's host has the whole") {
  const auto gathered = needs("--framework accelerate --sharding fsdp1 --save-checkpoint framework");
  CHECK(in_bytes(gathered.accelerator) == 4 * outside_layers);    // accelerate widens the weights to fp32
  CHECK(in_bytes(gathered.host_of_first) == 8 * all_parameters);  // the moments, when the weights have gone
  CHECK(in_bytes(gathered.host_of_each) == 0);
  CHECK(4 * outside_layers > 4 * layer);
}

TEST_CASE("DeepSpeed gathers a module at a time for 16-bit weights, and writes its own flat fp32 shard") {
  const auto gathered = needs("--framework deepspeed --zero 3 --save-checkpoint full-cpu");
  CHECK(in_bytes(gathered.accelerator) == 2 * embedding);
  CHECK(in_bytes(gathered.host_of_first) == 2 * all_parameters);
  CHECK(in_bytes(gathered.host_of_each) == 4'000'000'000);  // of 4,015,130,624, a group of 1e9 elements
  CHECK(in_bytes(needs("--framework deepspeed --zero 3 --save-checkpoint framework").host_of_first) == 0);
}

// transformers' Trainer hands ZeRO to DeepSpeed's engine and FSDP to accelerate, which save as they do for anybody.
TEST_CASE("a trainer's checkpoints are those of who shards its states") {
  for (const std::string trainer : {"hf", "accelerate"}) {
    for (const std::string way : {"sharded", "full-cpu", "framework"}) {
      CAPTURE(trainer, way);
      const auto saved = [&](const std::string& words) { return needs(words + " --save-checkpoint " + way); };
      // The same weights and masters: accelerate widens what it hands to FSDP, DeepSpeed keeps 16 bits beside fp32.
      const std::string by_zero = " --dtype bf16 --sharding zero3";
      const auto of_zero = saved("--framework " + trainer + by_zero);
      const auto of_deepspeed = saved("--framework deepspeed" + by_zero);
      CHECK(of_zero.accelerator == of_deepspeed.accelerator);
      CHECK(of_zero.host_of_each == of_deepspeed.host_of_each);
      CHECK(of_zero.host_of_first == of_deepspeed.host_of_first);
      const auto of_fsdp = saved("--framework " + trainer + " --dtype bf16 --sharding fsdp2");
      CHECK(of_fsdp.host_of_each < of_zero.host_of_each);
    }
  }
  // A rank's fp32 masters are one flat buffer below stage 3, of groups of 1e9 elements in it (runtime/zero/config.py).
  for (const auto& [stage, bytes] : {std::pair{"zero1", 4 * all_parameters / 8},
                                     {"zero2", 4 * all_parameters / 8},
                                     {"zero3", std::int64_t{4'000'000'000}}}) {
    const auto flat = needs("--framework hf --dtype bf16 --save-checkpoint sharded --sharding " + std::string(stage));
    CHECK(in_bytes(flat.host_of_each) == bytes);
  }
}

TEST_CASE("Megatron-LM copies a rank's shard before it writes: masters, moments and its part of the weights") {
  for (const auto* way : {"sharded", "async"}) {
    const auto staged = needs("--framework megatron --zero 1 --save-checkpoint " + std::string(way));
    CHECK(in_bytes(staged.accelerator) == 0);
    CHECK(in_bytes(staged.host_of_each) == (12 + 2) * all_parameters / 8);
  }
}

// Megatron-LM core/dist_checkpointing/strategies/fully_parallel.py: of the ranks that have the same part each writes a
// share. What tensor parallelism does not cut, each of its ranks has.
TEST_CASE("what all ranks copy before they write is the checkpoint, once, however a run is laid out") {
  for (const std::string model : {"llama-3-8b", "mixtral-8x7b"}) {
    for (const std::string layout : {"", " --tp 4", " --tp 2 --cp 2", " --ep 4", " --tp 2 --ep 4 --etp 1"}) {
      for (const std::string zero : {"0", "1"}) {
        if (model == "llama-3-8b" && layout.find("--ep") != layout.npos) continue;
        CAPTURE(model, layout, zero);
        const test::Asked asked("--gpu h100-sxm:8 --seq 1k --framework megatron --save-checkpoint sharded --model " +
                                model + layout + " --zero " + zero);
        const auto of_each = memory::highest_checkpoint_needs(asked.program, asked.question).host_of_each;
        const double copied = static_cast<double>(8 * in_bytes(of_each));
        const auto whole =
            static_cast<double>(in_bytes(timing::checkpoint_size(asked.program, asked.question.training)));
        CHECK(copied > 0.999999 * whole);
        CHECK(copied < 1.001 * whole);
      }
    }
  }
}

TEST_CASE("torchtitan writes tensor by tensor, and keeps its shard in host memory where it writes beside training") {
  CHECK(in_bytes(needs("--framework torchtitan --save-checkpoint framework").host_of_each) == 4 * embedding / 8);
  const auto staged = needs("--framework torchtitan --save-checkpoint async").host_of_each;
  CHECK(in_bytes(staged) == (4 + 8) * all_parameters / 8);
}

TEST_CASE("safetensors has all tensors of a file of at most 50 GB in host memory, on the rank that saves") {
  const auto saved = needs("--framework hf --sharding ddp --save-checkpoint framework");
  CHECK(in_bytes(saved.accelerator) == 0);
  CHECK(in_bytes(saved.host_of_first) == 2 * all_parameters);
  const test::Asked large("--model llama-3-70b --framework hf --gpu h200-sxm --seq 1k --save-checkpoint framework");
  CHECK(in_bytes(memory::highest_checkpoint_needs(large.program, large.question).host_of_first) == 50'000'000'000);
}

TEST_CASE("checkpoints that nobody asks for take nothing, and those that are asked for have a say in the verdict") {
  const std::string run = "--framework torch --sharding fsdp1 --gpu h100-sxm:8 --recompute full";
  const auto plain = estimate(run);
  const auto full = estimate(run + " --save-checkpoint full");
  CHECK(plain.memory.host_ledger.empty());
  CHECK(plain.memory.peak_allocated < full.memory.peak_allocated);
  CHECK(full.memory.peak_phase == Phase::checkpoint);
  CHECK(full.memory.peak_allocated ==
        plain.memory.persistent + quantity::bytes(2 * all_parameters + 2 * outside_layers));
  const auto small = estimate(run + " --save-checkpoint full-cpu --host-memory 16GiB");
  CHECK(small.verdict.kind == trust::VerdictKind::does_not_fit);
  CHECK(in_bytes(small.verdict.host_needed) == 4 * all_parameters);
}

TEST_CASE("a way to save that a framework does not have is refused with those that have it") {
  CHECK_THROWS_AS(
      test::question_of("--model llama-3-8b --framework torchtitan --gpu h100-sxm:8 --save-checkpoint full"),
      quantity::BadInput);
}
