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
  for (const auto* words :
       {"--recompute every-4", "--recompute selective --recompute-modules mlp", "--method inference",
        "--method ia3 --framework hf", "--method prefix", "--method adapter", "--method adalora"}) {
    CHECK_FALSE(says(words, "not modelled"));
  }
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

TEST_CASE("an answer says what a run keeps in host memory") {
  CHECK(says("--framework deepspeed --offload optimizer --gpus 2 --dp 2 --sharding zero2", "host memory"));
  CHECK_FALSE(says("--framework deepspeed --gpus 2 --dp 2 --sharding zero2", "host memory"));
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
