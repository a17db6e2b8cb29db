// What could not be modelled is said in the answer, and so is what a run keeps elsewhere.

#include "../memory/asked.hpp"
#include "catch.hpp"
#include "llmcalc/answer/estimate.hpp"

#include <algorithm>

using namespace llmcalc;

namespace {

bool says(const std::string& words, const std::string& part) {
  const auto notes = answer::estimate(test::question_of("--model llama-3-8b " + words)).notes;
  return std::ranges::any_of(notes, [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("an answer leaves nothing out of what recompute and fine-tuning do") {
  for (const auto* words : {"--recompute every-4", "--recompute selective --recompute-modules mlp",
                            "--method ia3 --framework hf", "--method prefix", "--method adapter", "--method adalora"}) {
    CHECK_FALSE(says(words, "not modelled"));
  }
  CHECK(says("--method inference", "llmcalc serve"));
}

TEST_CASE("an answer leaves nothing out of schedules and of how ranks share a sample, but for linear attention") {
  for (const auto* words : {"--pp 4 --schedule gpipe", "--pp 4 --schedule zero-bubble", "--cp 8",
                            "--cp 8 --cp-exchange all-to-all", "--pp 4 --first-stage-layers 5"}) {
    CHECK_FALSE(says(words, "not modelled"));
  }
  const auto notes = answer::estimate(test::question_of("--model qwen3-next-80b-a3b --cp 2")).notes;
  REQUIRE(notes.size() == 1);
  CHECK(notes.front().find("linear attention") != std::string::npos);
}

TEST_CASE("an answer says what no measured run backs, and that making samples is not timed") {
  CHECK(says("--algorithm dpo", "none of algorithm dpo was measured"));
  CHECK_FALSE(says("--algorithm dpo", "not modelled"));
  CHECK(says("--algorithm grpo", "not modelled: the time that samples take"));
  CHECK_FALSE(says("--algorithm sft", "algorithm"));
}

TEST_CASE("an answer says which router its experts have, and what crosses nodes for them") {
  const auto notes_of = [](const std::string& words) {
    std::string all;
    for (const auto& note :
         answer::estimate(test::question_of("--model qwen3-30b-a3b --framework megatron " + words)).notes) {
      all += note;
    }
    return all;
  };
  const std::string inside = notes_of("--gpu h100-sxm:8 --ep 8");
  CHECK(inside.find("balanced router") != std::string::npos);
  CHECK(inside.find("DeepEP") == std::string::npos);
  const std::string between = notes_of("--gpu h100-sxm:16 --ep 16 --moe-imbalance 1");
  CHECK(between.find("balanced router") == std::string::npos);
  CHECK(between.find("DeepEP") != std::string::npos);
}

TEST_CASE("an answer states by how much the slowest of many accelerators is slower, and how fast a drive is") {
  CHECK(says("--gpu h100-sxm:1024", "the slowest of 1,024 accelerators is taken to be 4.3 % slower than their mean"));
  CHECK_FALSE(says("--gpu h100-sxm:8", "the slowest of"));
  const std::string drives = "--gpu h100-sxm --framework deepspeed --zero 3 --offload optimizer --offload-to nvme";
  CHECK(says(drives, "3 GB/s"));
  CHECK_FALSE(says(drives + " --nvme-bandwidth 25GB/s", "3 GB/s"));
}

TEST_CASE("an answer says what a run keeps in host memory and on drives") {
  const auto memory_of = [](const std::string& words) {
    return answer::estimate(test::question_of("--model llama-2-7b --framework deepspeed --gpus 2 " + words)).memory;
  };
  CHECK(memory_of("--zero 2").host == quantity::bytes(0));
  // 12 bytes of states and the fp32 gradient of half of 6,738,415,616 parameters.
  constexpr std::int64_t states = 16 * 6'738'415'616 / 2;
  CHECK(quantity::in_bytes(memory_of("--zero 2 --offload optimizer").host) == Approx(states).epsilon(1e-6));
  const auto on_drives = memory_of("--zero 3 --offload optimizer --offload-to nvme");
  CHECK(quantity::in_bytes(on_drives.nvme) == Approx(states).epsilon(1e-6));
  // DeepSpeed's four buffers of 1e9 fp32 numbers.
  CHECK(on_drives.host == quantity::bytes(16'000'000'000));
}

TEST_CASE("an answer lists the peaks of all stages and is about the highest, or the one asked for") {
  const std::string run = "--model llama-2-7b --framework megatron --gpus 4 --pp 4 --grad-accum 8 --seq 4k ";
  const auto memory = answer::estimate(test::question_of(run)).memory;
  REQUIRE(memory.stages.size() == 4);
  CHECK(memory.stage == 0);  // 1F1B keeps most micro-batches on the first
  CHECK(memory.stages[0].allocated == memory.peak_allocated);
  CHECK(memory.stages[1].allocated > memory.stages[2].allocated);
  const auto third = answer::estimate(test::question_of(run + "--rank pp=2")).memory;
  CHECK(third.stage == 2);
  CHECK(third.peak_allocated == memory.stages[2].allocated);
}

TEST_CASE("6PD has no utilization where weights are frozen") {
  const auto six_pd = [](const std::string& words) {
    return answer::estimate(test::question_of("--model llama-2-7b --gpu h100-sxm " + words)).compute.flops.front();
  };
  CHECK(six_pd("--framework hf").utilization > 0.0);
  CHECK(six_pd("--framework hf --method lora").utilization == 0.0);
  CHECK(six_pd("--method inference").utilization == 0.0);
}

TEST_CASE("few tokens are warned of in full training, and only where somebody chose them") {
  const auto warns = [](const std::string& words) {
    const auto warnings = answer::estimate(test::question_of("--model llama-3-8b " + words)).warnings;
    return std::ranges::any_of(warnings, [](const std::string& w) { return w.find("200B") != std::string::npos; });
  };
  CHECK(warns("--tokens 100B"));
  CHECK_FALSE(warns("--tokens 300B"));
  CHECK_FALSE(warns("--seq 2k"));
  CHECK_FALSE(warns("--tokens 1B --method lora --lora-rank 8 --framework hf"));
}

TEST_CASE("products in a type that the accelerator does not have are warned of") {
  const auto warns = [](const std::string& words) {
    const auto warnings =
        answer::estimate(test::question_of("--model llama-3-8b --framework megatron " + words)).warnings;
    return std::ranges::any_of(warnings,
                               [](const std::string& w) { return w.find("no products in") != std::string::npos; });
  };
  CHECK(warns("--gpu a100-80-sxm --compute fp8"));
  CHECK(warns("--gpu h100-sxm --compute nvfp4"));
  CHECK(warns("--gpu v100-sxm2-32"));
  CHECK_FALSE(warns("--gpu h100-sxm --compute fp8"));
  CHECK_FALSE(warns("--gpu b200-sxm --compute nvfp4"));
}

TEST_CASE("the ledger names the copies that narrow products keep of the weights") {
  const auto label = [](const std::string& words) {
    return answer::estimate(test::question_of("--model llama-3-8b --framework megatron --gpu h100-sxm " + words))
        .memory.ledger.front()
        .label;
  };
  CHECK(label("") == "weights (bf16)");
  CHECK(label("--compute fp8") == "weights (bf16, with fp8-e4m3 copies)");
}

TEST_CASE("an answer says which of torchao's and torchtitan's ways it priced") {
  const std::string run = "--gpu h100-sxm:8 --seq 2048 --framework ";
  CHECK(says(run + "torchtitan --compute fp8-e4m3", "one scale a tensor"));
  CHECK_FALSE(says(run + "composer --compute fp8-e4m3", "one scale a tensor"));
  CHECK_FALSE(says(run + "torchtitan", "one scale a tensor"));
  CHECK(says(run + "torchtitan --tp 8 --sp 1", "asynchronous"));
  CHECK_FALSE(says(run + "torch --tp 8 --sp 1", "asynchronous"));
}

// transformers issue 48633: a T4 runs PyTorch's math for grouped heads, and nothing else does where they are not
// grouped, where a mask has them expanded first, or where the class has written-out attention anyway.
TEST_CASE("an answer says where attention keeps its scores for want of a kernel, and only there") {
  const auto warns = [](const std::string& words) {
    const auto warnings = answer::estimate(test::question_of("--framework hf --gpu t4 --dtype fp16 " + words)).warnings;
    return std::ranges::any_of(warnings, [](const auto& line) { return line.find("scores") != std::string::npos; });
  };
  CHECK(warns("--model llama-3.2-1b --seq 2048"));
  CHECK(warns("--model mistral-7b --seq 2048"));
  CHECK_FALSE(warns("--model mistral-7b --seq 8192"));  // its windows need a mask
  CHECK_FALSE(warns("--model llama-3.2-1b --seq 2048 --micro-batch 4 --samples 1k --sample-tokens 300 --packing 0"));
  CHECK_FALSE(warns("--model llama-3.2-1b --seq 2048 --attention eager"));
  CHECK_FALSE(warns("--model gpt-oss-20b --seq 2048"));
  CHECK_FALSE(warns("--model gpt2 --seq 512"));
}
