// The command that a plan prints answers, typed as it is printed, with the run that the plan found.
#include "catch.hpp"
#include "cli/folder.hpp"
#include "cli/run.hpp"
#include "frameworks/table.hpp"
#include "llmcalc/quantity/error.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace llmcalc;
using nlohmann::json;

namespace {

using Words = std::vector<std::string>;

/// What a shell makes of a line.
Words shell_words(const std::string& line) {
  Words words;
  std::string word;
  bool open = false;
  bool any = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\'') {
      open = !open;
      any = true;
    } else if (!open && c == '\\') {
      word += line[++i];
    } else if (!open && c == ' ') {
      if (any || !word.empty()) words.push_back(std::exchange(word, {}));
      any = false;
    } else {
      word += c;
    }
  }
  if (any || !word.empty()) words.push_back(word);
  return words;
}

std::string answer_in(const std::string& form, Words words) {
  words.insert(words.end(), {"--format", form});
  return cli::run(words, cli::Environment{}).answer;
}

json answer_to(const Words& words) { return json::parse(answer_in("json", words)); }

struct Checked {
  int found = 0;
  int refused = 0;
};

/// Asks for a plan and types what it prints.
void check(const Words& asked, Checked& checked) {
  std::string line;
  for (const auto& word : asked) line += " " + word;
  CAPTURE(line);
  try {
    const json plan = answer_to(asked);
    if (plan["best"].empty()) return;
    const auto command = plan["fit_command"].get<std::string>();
    CAPTURE(command);
    Words typed = shell_words(command);
    REQUIRE(typed.at(0) == "llmcalc");
    typed.erase(typed.begin());
    const json fit = answer_to(typed);
    const json& best = plan["best"][0];
    CHECK(fit["needed_bytes"] == best["figures"]["needed_bytes"]);
    CHECK(fit["time"]["step_seconds"].get<double>() ==
          Approx(best["figures"]["step_seconds"].get<double>()).epsilon(1e-12));
    for (const auto* figure : {"total_seconds", "cost_usd"}) {
      CAPTURE(figure);
      const json &typed_again = fit["time"][figure], &planned = best["figures"][figure];
      CHECK(typed_again.is_null() == planned.is_null());
      if (planned.is_number()) CHECK(typed_again.get<double>() == Approx(planned.get<double>()).epsilon(1e-12));
    }
    ++checked.found;
  } catch (const quantity::BadInput& error) {
    UNSCOPED_INFO(line << ": " << error.what());
    ++checked.refused;
  }
}

template <std::size_t n>
std::string one_of(std::mt19937& random, const std::array<const char*, n>& words) {
  return words[random() % n];
}

/// Some of the words of a plan, with values that are legal now and then.
Words random_plan(std::mt19937& random) {
  Words words{"plan", "--model",
              one_of(random, std::array{"llama-3.2-1b", "gpt2", "olmoe-1b-7b", "gemma-2-2b", "qwen3-30b-a3b",
                                        "t5-small", "deepseek-moe-16b", "llama-3-8b"})};
  const auto maybe = [&](const char* flag, const std::string& value) {
    if (random() % 3 == 0) words.insert(words.end(), {flag, value});
  };
  words.insert(words.end(), {"--gpu", one_of(random, std::array{"h100-sxm", "a100-80", "b200", "rtx-4090"})});
  words.insert(words.end(), {"--gpus", one_of(random, std::array{"1", "2", "4", "8"})});
  words.insert(words.end(), {"--global-batch", one_of(random, std::array{"8", "16"}), "--seq", "1k"});
  maybe("--framework", one_of(random, std::array{"megatron", "nemo", "deepspeed", "megatron-deepspeed", "torchtitan",
                                                 "hf", "torchtune", "llm.c", "composer", "litgpt", "colossalai"}));
  maybe("--dtype", one_of(random, std::array{"bf16", "mixed-bf16", "fp16", "fp32"}));
  maybe("--method", one_of(random, std::array{"full", "lora", "qlora", "dora"}));
  maybe("--algorithm", one_of(random, std::array{"dpo", "ppo", "grpo", "orpo"}));
  maybe("--sp", one_of(random, std::array{"0", "1", "0,1"}));
  maybe("--tp", one_of(random, std::array{"1", "2", "2,4"}));
  maybe("--pp", one_of(random, std::array{"1", "2", "1,2"}));
  maybe("--etp", one_of(random, std::array{"1", "2"}));
  maybe("--recompute", one_of(random, std::array{"none", "full", "every-2", "block-2", "selective"}));
  maybe("--sharding", one_of(random, std::array{"ddp", "zero1", "zero2", "zero3", "fsdp2", "ddp,zero1"}));
  maybe("--offload", one_of(random, std::array{"none", "optimizer", "params"}));
  maybe("--grads", one_of(random, std::array{"bf16", "fp32"}));
  maybe("--optimizer",
        one_of(random, std::array{"adamw", "adamw-8bit", "muon", "lomo", "sgd", "adafactor", "galore-adamw-8bit"}));
  maybe("--attention", one_of(random, std::array{"flash", "eager"}));
  maybe("--objective", one_of(random, std::array{"memory", "step-time", "micro-batch"}));
  maybe("--last-stage-layers", one_of(random, std::array{"2", "4", "100"}));
  maybe("--sharding-group", one_of(random, std::array{"2", "4"}));
  maybe("--framework-version", "Megatron-Bridge, NeMo container 25.09");
  return words;
}

}  // namespace

TEST_CASE("every winner of a plan, typed as it is printed, needs the same bytes and seconds", "[long]") {
  std::mt19937 random(11);
  Checked checked;
  for (int i = 0; i < 500; ++i) check(random_plan(random), checked);
  CHECK(checked.found > 150);
}

TEST_CASE("a plan of which as little as can be is said answers, and what it prints does too") {
  Checked checked;
  for (const auto* row : frameworks::rows()) {
    check({"plan", "--model", "llama-3.2-1b", "--gpu", "h100-sxm:4", "--framework", std::string(row->words.front())},
          checked);
  }
  check({"plan", "--params", "7e9", "--gpu", "h100-sxm:8"}, checked);
  check({"plan", "--params", "1e9", "--gpu", "rtx-4090:2", "--framework", "megatron"}, checked);
  check({"plan", "--model", "llama-3-8b", "--gpu", "rtx-4090", "--method", "qlora"}, checked);
  CHECK(checked.refused == 0);
}

TEST_CASE("a value that a choice of 1 stands for is said") {
  Checked checked;
  const Words asked{"plan", "--model", "llama-3-8b", "--framework", "megatron",       "--gpu", "h100-sxm:8",
                    "--tp", "8",       "--sp",       "1",           "--global-batch", "64"};
  check(asked, checked);
  CHECK(checked.found == 1);
  const auto command = answer_to(asked)["fit_command"].get<std::string>();
  CHECK_THAT(command, Catch::Matchers::Contains("--sp 1"));
}

TEST_CASE("a printed command names the presets and quotes what a shell would cut") {
  const test::Folder folder;
  folder.write("a b/models/own.json",
               R"([{"id": "it's", "aliases": [], "layers": 4, "hidden": 256, "heads": 4, "kv_heads": 4, "head_dim": 64,
                    "ffn": 1024, "vocab": 1000}])");
  Checked checked;
  const Words asked{"plan", "--model",        "it's", "--gpu",     "a100-80:2",           "--seq",
                    "512",  "--global-batch", "4",    "--presets", folder.path() + "/a b"};
  check(asked, checked);
  CHECK(checked.found == 1);
  CHECK_THAT(answer_to(asked)["fit_command"].get<std::string>(), Catch::Matchers::Contains("--model 'it'\\''s'"));
}

/// Frameworks whose bars differ, and one whose allocator fills up before what must fit does (torchtitan's fsdp2).
TEST_CASE("a plan that fits within its error bar only names the best that surely fits, and fit agrees") {
  int tight = 0;
  for (const std::string line :
       {"llama-3.1-70b --gpu a100-80:64", "llama-3-70b --gpu h200:32", "mistral-7b --gpu a100-80:4 --framework hf",
        "qwen2.5-14b --gpu h100:8 --framework torchtitan --seq 8k", "llama-2-13b --gpu a100-40:16",
        "llama-3-8b --gpu h100:8 --framework megatron"}) {
    CAPTURE(line);
    Words asked = shell_words("plan " + line);
    const json plan = answer_to(asked);
    CHECK((answer_in("html", asked).find("surely fits") != std::string::npos) == plan["sure"].is_object());
    asked.emplace_back("--strict");
    const json strict = answer_to(asked);
    REQUIRE_FALSE(strict["best"].empty());
    Words typed = shell_words(strict["fit_command"].get<std::string>());
    typed.erase(typed.begin());
    CHECK(answer_to(typed)["verdict"] == "fits");
    if (plan["sure"].is_null()) {
      CHECK(plan["best"][0] == strict["best"][0]);
      continue;
    }
    ++tight;
    CHECK(plan["sure"] == strict["best"][0]);
  }
  CHECK(tight >= 3);
}
