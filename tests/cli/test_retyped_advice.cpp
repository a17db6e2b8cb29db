// Advice typed behind the command it was given to answers what it promised, whatever that command said.
#include "catch.hpp"
#include "cli/run.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/presets.hpp"
#include "serving/engine.hpp"
#include "spec/names.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace llmcalc;
using nlohmann::json;

namespace {

/// What is said last of an option holds; how many accelerators there are takes the place of what their name says of it.
json asked(const std::string& verb, const std::string& line) {
  std::map<std::string, std::string> options;
  std::istringstream words(line);
  for (std::string option, value; words >> option >> value;) {
    if (option == "--gpus") options["--gpu"] = options["--gpu"].substr(0, options["--gpu"].find(':'));
    options[option] = value;
  }
  std::vector<std::string> arguments{verb, "--format", "json"};
  for (const auto& [option, value] : options) arguments.insert(arguments.end(), {option, value});
  return json::parse(cli::run(arguments, cli::Environment{}).answer);
}

json fit(const std::string& line) { return asked("fit", line); }

// What the advice changes without naming it was said.
const std::string told[] = {
    "--model qwen3-8b --gpu a100-80 --framework torchtune --optimizer adamw --dtype bf16 --master-weights 1",
    "--model llama-3-8b --gpu a100-80 --framework torchtitan --dtype mixed-bf16 --grads bf16",
    "--model qwen2.5-0.5b --gpu rtx-4090 --dtype bf16 --global-batch 4 --micro-batch 4 --optimizer-states bf16",
    "--model deepseek-v3 --gpu b200 --gpus 8 --framework torch --method dora --ep 2 --gpus-per-node 4",
};

}  // namespace

TEST_CASE("advice unsays the options that hold no longer") {
  for (const auto& line : told) {
    CAPTURE(line);
    const auto answer = fit(line);
    CHECK_FALSE(answer["advice"].empty());
    for (const auto& advice : answer["advice"]) {
      const auto flag = advice["flag"].get<std::string>();
      CAPTURE(flag);
      const auto again = fit(line + " " + flag);
      CHECK(again["verdict"] == advice["verdict"]);
      CHECK(again["needed_bytes"] == advice["needed_bytes"]);
    }
  }
}

TEST_CASE("advice on any preset, however it is trained, can be typed and does what it says", "[long]") {
  const auto turn = [](const auto& words, std::size_t n) { return std::string(words[n % std::size(words)]); };
  constexpr const char* optimizers[] = {"adamw", "lomo",       "adalomo",     "muon",        "adafactor",
                                        "sgd",   "adamw-8bit", "paged-adamw", "apollo-mini", "lion"};
  constexpr const char* frameworks[] = {"generic", "hf", "torchtitan", "megatron", "deepspeed", "torchtune", "nemo"};
  constexpr const char* layouts[] = {"", " --gpus 8", " --gpus 4 --micro-batch 8", " --micro-batch 12"};
  constexpr const char* kinds[] = {"", " --method lora", " --algorithm dpo", " --algorithm ppo", " --method dora"};
  std::size_t n = 0;
  std::size_t typed = 0;
  for (const auto& preset : read::Catalogue().models()) {
    const std::string line = "--model " + preset.id + " --gpu a100-40 --optimizer " + turn(optimizers, n) +
                             " --framework " + turn(frameworks, n) + turn(layouts, n) + turn(kinds, n);
    ++n;
    CAPTURE(line);
    try {
      const auto answer = fit(line);
      for (const auto& advice : answer["advice"]) {
        const auto flag = advice["flag"].get<std::string>();
        CAPTURE(flag);
        CHECK(fit(line + " " + flag)["needed_bytes"] == advice["needed_bytes"]);
        ++typed;
      }
    } catch (const quantity::BadInput& error) {
      CHECK_FALSE(error.place().empty());
    }
  }
  CHECK(typed > 200);
}

TEST_CASE("advice says nothing of options that still hold") {
  const auto answer = fit("--model llama-3-8b --gpu a100-80 --framework hf --dtype bf16 --compute bf16 --seq 4k");
  for (const auto& advice : answer["advice"]) {
    CHECK(advice["flag"].get<std::string>().find("--seq 4") == std::string::npos);
    CHECK(advice["flag"].get<std::string>().find("--compute") == std::string::npos);
  }
}

namespace {

/// An advice that is typed behind its question does what it says, and keeps what was asked where it says so.
void check_retyped(const std::string& line, const json& asked_for, const json& advice) {
  const auto change = advice["change"].get<std::string>();
  CAPTURE(change);
  const auto again = asked("serve", line + " " + change);
  CHECK((line + " ").find(" " + change + " ") == std::string::npos);  // and is not what was asked already
  CHECK((again["verdict"] == "fits") == advice["starts"].get<bool>());
  CHECK(again["capacity"]["max_concurrency"] == advice["max_concurrency"]);
  CHECK(again["capacity"]["max_context"] == advice["max_context"]);
  if (!advice["carries_load"]) return;
  CHECK(again["load"]["queued"] == 0);
  CHECK(again["load"]["concurrency"] == asked_for["concurrency"]);
  if (line.find("--context") != line.npos) CHECK(again["capacity"]["context"] == asked_for["context"]);
}

}  // namespace

TEST_CASE("advice on a server, on whatever cards and engine, can be typed and does what it says", "[long]") {
  constexpr const char* cards[] = {"rtx-4090", "h100-sxm", "rtx-3060", "l40s:2", "a100-80:4", "v100-sxm2-32", "b200:8"};
  constexpr const char* loads[] = {"", " --context 8k", " --context 32k --concurrency 16",
                                   " --prompt 3000 --output 500",
                                   " --max-seqs 256 --memory-fraction 0.95 --batched-tokens 2048"};
  std::size_t turn = 0;
  std::size_t typed = 0;
  std::size_t kept = 0;
  for (const auto& preset : read::Catalogue().models()) {
    const auto& engine = serving::all_engines()[turn % serving::all_engines().size()];
    const std::string line = "--model " + preset.id + " --gpu " + cards[turn % std::size(cards)] + " --engine " +
                             std::string(spec::name_of(engine.engine)) + loads[turn / 3 % std::size(loads)];
    ++turn;
    CAPTURE(line);
    json answer;
    try {
      answer = asked("serve", line);
    } catch (const quantity::BadInput&) {  // what that engine does not serve has no answer
      continue;
    }
    const auto keeps = [](const json& advice) { return advice["carries_load"].get<bool>(); };
    const auto& advised = answer["advice"];
    const json asked_for{{"context", answer["capacity"]["context"]}, {"concurrency", answer["load"]["concurrency"]}};
    for (const auto& advice : advised) check_retyped(line, asked_for, advice);
    typed += advised.size();
    // A change that takes from the question is never said before one that keeps it.
    CHECK(std::is_partitioned(advised.begin(), advised.end(), keeps));
    if (advised.empty() || !keeps(advised.front())) continue;
    ++kept;
    if (answer["verdict"] != "fits") CHECK(answer["launched_with"] == advised.front()["change"]);
  }
  CHECK(typed > 200);
  CHECK(kept > 100);
}

// 141 GB of bf16 weights (70.6e9 x 2 B) on cards of 80 GB: vLLM's documentation shortens the context only where nothing
// else is to be had (docs/configuration/conserving_memory: tensor parallelism and quantization come first).
TEST_CASE("the first change of a server that does not fit keeps the context that was asked for") {
  const std::string line = "--model llama-3.3-70b --gpu h100 --context ";
  for (const std::string context : {"8192", "32768", "131072"}) {
    const auto answer = asked("serve", line + context);
    REQUIRE(answer["verdict"] == "does_not_fit");
    CAPTURE(context, answer["launched_with"]);
    CHECK(answer["launched_with"].get<std::string>().find("--context") == std::string::npos);
    CHECK(answer["launch"].get<std::string>().find("--max-model-len " + context) != std::string::npos);
  }
}

TEST_CASE("a prompt that was said is shortened with its context") {
  const std::string line = "--model llama-3.3-70b --gpu rtx-3060 --engine trtllm --prompt 30000 --output 500";
  const auto answer = asked("serve", line);
  for (const auto& advice : answer["advice"])
    CHECK_NOTHROW(asked("serve", line + " " + advice["change"].get<std::string>()));
  CHECK_NOTHROW(asked("serve", "--model llama-3.1-8b --gpu rtx-4090 --prompt 80000 --output 200"));
}
