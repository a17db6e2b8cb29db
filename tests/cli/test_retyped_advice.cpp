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

json fit(const std::string& line) {
  std::map<std::string, std::string> options;
  std::istringstream words(line);
  for (std::string option, value; words >> option >> value;) options[option] = value;
  std::vector<std::string> arguments{"fit", "--format", "json"};
  for (const auto& [option, value] : options) arguments.insert(arguments.end(), {option, value});
  return json::parse(cli::run(arguments, cli::Environment{}).answer);
}

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
