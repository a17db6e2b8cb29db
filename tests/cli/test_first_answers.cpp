// What people ask first: lecture figures, memory of machines, programs that look for the same keys in every answer.
#include "catch.hpp"
#include "cli/run.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/presets.hpp"

#include <nlohmann/json.hpp>

#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace llmcalc;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

cli::Outcome typed(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream text(line);
  for (std::string word; text >> word;) words.push_back(word);
  return cli::run(words, cli::Environment{});
}

json answered(const std::string& line) { return json::parse(typed(line + " --format json").answer); }

std::set<std::string> keys_of_question(const std::string& line) {
  std::set<std::string> keys;
  const auto answer = answered(line);
  for (const auto& item : answer["question"].items()) keys.insert(item.key());
  return keys;
}

std::string lecture(const std::string& run) {
  return typed("fit " + run + " --activations rule-of-thumb --unit GB").answer;
}

}  // namespace

// DeepLearning.AI, Generative AI with large language models, week 1: 4 + 20 bytes a parameter of training in fp32, and
// of inference those of the weights.
TEST_CASE("a lecture's figures are those on its slides, in its unit") {
  CHECK_THAT(lecture("--params 1e9 --dtype fp32"), Contains("needs 24.00 GB"));
  CHECK_THAT(lecture("--params 175e9 --dtype fp32"), Contains("needs 4200.00 GB"));
  CHECK_THAT(lecture("--params 500e9 --dtype fp32"), Contains("needs 12000.00 GB"));
  CHECK_THAT(lecture("--params 20e9 --dtype fp32 --method inference"), Contains("needs 80.00 GB"));
  CHECK_THAT(lecture("--params 20e9 --dtype bf16 --method inference"), Contains("needs 40.00 GB"));
  CHECK_THAT(lecture("--params 20e9 --weights int8 --method inference"), Contains("needs 20.00 GB"));
  CHECK_THAT(lecture("--params 20e9 --weights int4 --method inference"), Contains("needs 10.00 GB"));
}

TEST_CASE("options are also what most programs call them") {
  CHECK(typed("-V").answer == typed("--version").answer);
  CHECK(typed("fit --params 70e9 --gpu h100 -q").answer.empty());
  CHECK(typed("fit --params 70e9 --gpu h100 -q").code == ExitCode::does_not_fit);
  CHECK(typed("gpu show h100 --json").answer == typed("gpu show h100 --format json").answer);
  CHECK(typed("fit --params 1e9 --no-color").answer == typed("fit --params 1e9 --color never").answer);
}

TEST_CASE("an amount of memory without an accelerator says nothing of its machine") {
  const auto answer = answered("fit --params 7b --memory 80GiB --offload optimizer");
  CHECK(answer["verdict"] == "fits");
  CHECK(answer["memory"]["host_capacity_bytes"].is_null());
  CHECK(answer["memory"]["host_needed_bytes"] > 0);
  CHECK_THAT(typed("fit --params 7b --memory 80GiB --offload optimizer").answer, !Contains("of 0.00 GiB"));
}

/// Whose hours nobody sells has no cost, and what is offered in its place has one.
TEST_CASE("a card without a price is answered with one that has a price", "[long]") {
  const read::Catalogue catalogue;
  int offered = 0;
  for (const auto& preset : catalogue.accelerators()) {
    const auto& card = preset.accelerator;
    if (card.price_per_hour || card.vendor != "NVIDIA") continue;  // others' makers have few that are rented
    CAPTURE(card.id);
    const auto answer = answered("fit llama-3.1-8b --method lora --gpu " + card.id);
    CHECK(answer["time"]["cost_usd"].is_null());
    for (const auto& advice : answer["advice"]) {
      std::istringstream words(advice["flag"].get<std::string>());
      std::string word;
      while (word != "--gpu" && words >> word) {
      }
      if (!(words >> word) || word == card.id) continue;
      CHECK(catalogue.accelerator(word, "--gpu").accelerator.price_per_hour.has_value());
      ++offered;
      break;
    }
  }
  CHECK(offered > 10);
}

TEST_CASE("nothing is negative of a server without an accelerator") {
  for (const std::string engine : {"vllm", "sglang", "trtllm", "llama.cpp", "ollama", "hf"}) {
    CAPTURE(engine);
    const auto answer = answered("serve phi-3-mini --other-usage 1GiB --engine " + engine);
    CHECK(answer["verdict"] == "no_accelerator");
    CHECK(answer["kv"]["bytes"] >= 0);
    CHECK(answer["memory"]["capacity_bytes"] >= 0);
  }
  CHECK(answered("serve phi-3-mini --gpu h100 --other-usage 81GiB")["verdict"] == "does_not_fit");
}

TEST_CASE("a unit that there is not is answered with those that there are") {
  CHECK_THROWS_WITH(typed("fit --params 1e9 --unit gigs"), Contains("GiB, GB"));
}

TEST_CASE("every answer has the same keys in its question") {
  const auto keys = keys_of_question("fit --params 1e9");
  CHECK(keys.size() > 100);
  CHECK(keys.contains("kv_lora_rank"));
  CHECK(keys.contains("host_memory"));
  for (const std::string line :
       {"fit --model llama-3-8b --gpu h100-sxm:8 --zero 3",
        "fit --model deepseek-v3 --framework megatron --gpu h100:64",
        "fit llama-3.1-8b --method qlora --framework trl --gpu 4090", "fit --model t5-3b --gpu 4090"}) {
    CAPTURE(line);
    CHECK(keys_of_question(line) == keys);
  }
  CHECK(keys_of_question("serve llama-3-8b --gpu 4090") == keys_of_question("serve deepseek-v3 --gpu h200:8"));
}

TEST_CASE("a tight run says how far it can go and stay so") {
  const std::string line = "fit --params 1e9 --dtype bf16 --gpu a100-80 --memory 16GiB";
  const auto tight = answered(line);
  REQUIRE(tight["verdict"] == "tight");
  REQUIRE(tight["room"]["largest_micro_batch"].is_number());
  const auto largest = tight["room"]["largest_micro_batch"].get<int>();
  const auto with = [&](int batch) { return answered(line + " --micro-batch " + std::to_string(batch))["verdict"]; };
  CHECK(with(largest) == "tight");
  CHECK(with(largest + 1) == "does_not_fit");
  CHECK_THAT(typed(line).answer, Contains("to be sure that it fits"));
}

TEST_CASE("a plan and a verdict count what is offloaded against the memory of the machine") {
  const std::string run = "llama-3-8b --gpu 4090 --framework generic --recompute full --micro-batch 1";
  const auto offloaded = typed("fit " + run + " --offload params+optimizer");
  CHECK(offloaded.code == ExitCode::does_not_fit);
  CHECK_THAT(offloaded.answer, Contains("of 64.00 GiB a machine"));
  CHECK_THAT(typed("fit " + run + " --offload params+optimizer --full").answer,
             Contains("--host-memory 64GiB a machine"));
  CHECK(typed("fit " + run + " --offload params+optimizer --host-memory 256GiB").code == ExitCode::fits);
  CHECK(typed("plan " + run + " --gpus 1").code == ExitCode::does_not_fit);
  CHECK(typed("plan " + run + " --gpus 1 --host-memory 256GiB").code == ExitCode::fits);
}

TEST_CASE("offloading and spreading experts are advised where the framework can") {
  const auto flags_of = [](const std::string& line) {
    std::string flags;
    const auto answer = answered(line);
    for (const auto& advice : answer["advice"]) flags += advice["flag"].get<std::string>() + "\n";
    return flags;
  };
  CHECK_THAT(flags_of("fit llama-3-8b --framework deepspeed --gpu l40s:2 --recompute full --zero 3 --host-memory 1TB"),
             Contains("--offload"));
  CHECK_THAT(flags_of("fit mixtral-8x7b --framework megatron --gpu h100:64 --tp 2 --recompute full"),
             Contains("--ep "));
}
