// Advice typed behind the command it was given to answers what it promised, whatever that command said.
#include "catch.hpp"
#include "cli/run.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/presets.hpp"

#include <nlohmann/json.hpp>

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

TEST_CASE("advice on a server, on whatever cards and engine, can be typed and does what it says", "[long]") {
  constexpr const char* cards[] = {"rtx-4090", "h100-sxm", "rtx-3060", "l40s:2", "a100-80:4"};
  constexpr const char* engines[] = {"vllm", "sglang", "trtllm", "llama.cpp"};
  std::size_t n = 0;
  std::size_t typed = 0;
  for (const auto& preset : read::Catalogue().models()) {
    const std::size_t turn = n++ / 4;
    if (n % 4 != 0) continue;
    const std::string line = "--model " + preset.id + " --gpu " + cards[turn % std::size(cards)] + " --engine " +
                             engines[turn % std::size(engines)];
    CAPTURE(line);
    json advised;
    try {
      advised = asked("serve", line)["advice"];
    } catch (const quantity::BadInput&) {  // what that engine does not serve has no answer
      continue;
    }
    for (const auto& advice : advised) {
      const auto change = advice["change"].get<std::string>();
      CAPTURE(change);
      const auto again = asked("serve", line + " " + change);
      CHECK((again["verdict"] == "fits") == advice["starts"].get<bool>());
      CHECK(again["capacity"]["max_concurrency"] == advice["max_concurrency"]);
      CHECK(again["capacity"]["max_context"] == advice["max_context"]);
      ++typed;
    }
  }
  CHECK(typed > 40);
}
