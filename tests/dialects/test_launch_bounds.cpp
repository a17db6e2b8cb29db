// Commands that nobody wrote are refused before they take time or memory.
#include "catch.hpp"
#include "dialects/reading.hpp"
#include "llmcalc/quantity/error.hpp"

#include <algorithm>
#include <optional>
#include <string>

using namespace llmcalc;
using Catch::Matchers::Contains;

namespace {

std::string problem(const std::string& command) {
  const dialects::FindFile nothing = [](const std::string&) { return std::optional<dialects::NamedFile>(); };
  try {
    dialects::read_launch_command(command, "command", nothing);
  } catch (const quantity::BadInput& error) {
    return error.problem();
  }
  return "accepted";
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("a command has no thousands of options") {
  std::string command = "vllm serve m";
  for (int i = 0; i < 4001; ++i) command += " --o" + std::to_string(i) + " 1";
  CHECK_THAT(problem(command), Contains("more than 4000 settings"));
  CHECK(problem("vllm serve m --max-model-len 8192") == "accepted");
}

TEST_CASE("containers within containers end") {
  CHECK_THAT(problem(repeated("docker run x ", 10'000) + "vllm serve m"), Contains("containers within containers"));
  CHECK(problem("docker run --gpus all x docker run y vllm serve m") == "accepted");
}

TEST_CASE("two spellings of one amount of data are two amounts, of which the later counts") {
  const dialects::FindFile nothing = [](const std::string&) { return std::optional<dialects::NamedFile>(); };
  const auto parse = [&](const char* text, const char* place) {
    return dialects::read_launch_file(text, place, nothing);
  };
  const auto all =
      dialects::merge({parse("model_name_or_path: m\nmax_train_samples: 100\nnum_train_epochs: 2\n", "a.yaml"),
                       parse("model_name_or_path: m\nmax_steps: 5\n", "b.yaml")});
  const auto words = dialects::with_options(all, {});
  CHECK(std::ranges::find(words, "steps", &read::Given::term)->text == "5");
  for (const auto* term : {"samples", "epochs", "packing"}) {
    CHECK(std::ranges::find(words, term, &read::Given::term) == words.end());
  }
  CHECK_THAT(all.assumptions.back().words, Contains("steps 5 (b.yaml:2), not samples 100 (a.yaml:2)"));
}

TEST_CASE("epochs are asked about where a number of samples is said, and named where none is") {
  const dialects::FindFile nothing = [](const std::string&) { return std::optional<dialects::NamedFile>(); };
  const auto reading = dialects::read_launch_file(
      "model_name_or_path: m\nper_device_train_batch_size: 1\nnum_train_epochs: 2\npacking: true\n", "a.yaml", nothing);
  const auto without = dialects::with_options(reading, {});
  CHECK(std::ranges::find(without, "epochs", &read::Given::term) == without.end());
  REQUIRE(dialects::unused_data(reading, without).size() == 1);
  CHECK_THAT(dialects::unused_data(reading, without)[0].words, Contains("epochs 2 (a.yaml:3)"));
  const auto with = dialects::with_options(reading, {{"samples", "50k", {read::Source::flag, "--samples"}}});
  CHECK(std::ranges::find(with, "epochs", &read::Given::term)->text == "2");
  CHECK(std::ranges::find(with, "packing", &read::Given::term)->text == "1");
  CHECK(dialects::unused_data(reading, with).empty());
}

TEST_CASE("a value that hangs on a variable is refused, unless an option says it") {
  const dialects::FindFile nothing = [](const std::string&) { return std::optional<dialects::NamedFile>(); };
  for (const std::string command :
       {"vllm serve --model $MODEL --max-num-seqs 8", "trl sft --model_name_or_path $MODEL --bf16"}) {
    CAPTURE(command);
    const auto reading = dialects::read_launch_command(command, "command", nothing);
    try {
      dialects::with_options(reading, {});
      FAIL("the variable was guessed");
    } catch (const quantity::BadInput& error) {
      CHECK_THAT(error.problem(), Contains("hangs on MODEL"));
      CHECK_THAT(error.hint(), Contains("--model"));
    }
    for (const auto* option : {"model", "config", "params"}) {
      CHECK_NOTHROW(dialects::with_options(reading, {{option, "x", {read::Source::flag, option}}}));
    }
  }
}

// Sizes by which others are divided: a rank's part of a batch, a stage's part of the layers. A division by none ends
// the program.
TEST_CASE("a size of none in a command of verl's or Megatron-LM's is read or refused, whichever it is") {
  const std::string commands[] = {
      "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo actor_rollout_ref.model.path=Qwen/Qwen2.5-7B "
      "actor_rollout_ref.actor.ppo_micro_batch_size=16 actor_rollout_ref.actor.ppo_mini_batch_size=64 "
      "actor_rollout_ref.actor.ulysses_sequence_parallel_size=2 actor_rollout_ref.rollout.n=4 "
      "trainer.n_gpus_per_node=8 trainer.nnodes=1",
      "torchrun --nproc-per-node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 "
      "--pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 4 --tensor-model-parallel-size 4 "
      "--seq-length 4096 --micro-batch-size 1 --global-batch-size 64 --mtp-num-layers 1 --recompute-num-layers 1"};
  int asked = 0;
  for (const std::string& command : commands) {
    CHECK(problem(command) == "accepted");
    for (auto at = command.find_first_of("=0123456789"); at != command.npos; at = command.find_first_of("= ", at + 1)) {
      const auto end = std::min(command.find(' ', at + 1), command.size());
      const auto value = command.substr(at + 1, end - at - 1);
      if (value.empty() || value.find_first_not_of("0123456789") != value.npos) continue;
      const auto none = command.substr(0, at + 1) + "0" + command.substr(end);
      CAPTURE(none);
      CHECK_FALSE(problem(none).empty());
      ++asked;
    }
  }
  CHECK(asked == 17);
}
