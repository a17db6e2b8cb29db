// The launch that a plan prints starts the run that the plan found, to the byte and the second.
#include "catch.hpp"
#include "dialects/reading.hpp"
#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/llmcalc.hpp"
#include "read/resolve.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

using namespace llmcalc;

namespace {

/// The command as it is typed for a data set that has a name, on the machine that it leaves to its place.
answer::Estimate started(std::string command) {
  constexpr std::string_view data = "$DATA";
  if (const auto at = command.find(data); at != std::string::npos) command.replace(at, data.size(), "data");
  const dialects::FindFile nothing = [](const std::string&) { return std::optional<dialects::NamedFile>(); };
  const auto reading = dialects::read_launch_command(command, "command", nothing);
  std::vector<read::Given> beside;
  // Llama 3 8B, meta-llama/Meta-Llama-3-8B config.json: the tokenizer that is named has 128,256 words.
  for (const auto& [term, text] : {std::pair{"model", "llama-3-8b"}, {"gpu", "h100-sxm"}, {"vocab", "128256"}}) {
    beside.push_back({term, text, {read::Source::flag, std::string("--") + term}});
  }
  return answer::estimate(read::resolve(with_options(reading, beside), std::nullopt, read::Catalogue()).question);
}

struct Planned {
  std::string framework;
  std::vector<std::string> methods;
  std::string cards = "h100-sxm:8";
};

/// Ten trainers; adapters are written for those whose commands have them.
const std::vector<Planned> trainers{{"megatron", {"full"}},
                                    {"torchtitan", {"full"}},
                                    {"deepspeed", {"full", "lora", "qlora"}},
                                    {"trl", {"full", "lora", "qlora"}},
                                    {"hf", {"full"}},
                                    {"axolotl", {"full", "lora", "qlora"}},
                                    {"llama-factory", {"full", "lora", "qlora"}},
                                    {"unsloth", {"full", "lora", "qlora"}},
                                    {"ms-swift", {"full", "lora", "qlora"}},
                                    {"litgpt", {"lora"}},
                                    {"litgpt", {"qlora"}, "h100-sxm"},
                                    {"torchtune", {"full", "lora", "qlora"}}};

}  // namespace

TEST_CASE("the launch of every plan of a trainer takes what the plan says", "[long]") {
  std::size_t plans = 0;
  for (const auto& [framework, methods, cards] : trainers) {
    for (const auto& method : methods) {
      CAPTURE(framework, method);
      const auto reply = ask("plan", {{"model", "llama-3-8b"},
                                      {"gpu", cards},
                                      {"framework", framework},
                                      {"method", method},
                                      {"seq", "4k"},
                                      {"global-batch", "64"}});
      const auto plan = nlohmann::json::parse(to_json(reply));
      if (plan["best"].empty()) {
        WARN(framework << " " << method << ": nothing fits");
        continue;
      }
      const auto& figures = plan["best"][0]["figures"];
      REQUIRE(plan["launch"].size() == 1);
      const std::string command = plan["launch"][0]["command"];
      CAPTURE(command, plan["launch"][0]["beyond"].dump(), plan["fit_command"].dump());
      REQUIRE_FALSE(command.empty());
      const auto again = started(command);
      CHECK(in_bytes(again.memory.peak_needed) == figures["needed_bytes"].get<std::int64_t>());
      CHECK(in_seconds(again.compute.step) == Approx(figures["step_seconds"].get<double>()).epsilon(1e-9));
      ++plans;
    }
  }
  CHECK(plans >= 24);
}
