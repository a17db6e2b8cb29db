// Presets of the user: what is wrong with them is said, and what they hold cannot command a terminal.
#include "catch.hpp"
#include "cli/folder.hpp"
#include "cli/run.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"
#include "read/presets.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

using namespace llmcalc;
using Catch::Matchers::Contains;
using nlohmann::json;
using test::Folder;

namespace {

cli::Outcome outcome(const std::vector<std::string>& words) { return cli::run(words, cli::Environment{}); }

const json own_gpu = json::parse(R"({"id": "own", "name": "Own", "vendor": "nvidia", "arch": "Hopper", "year": 2024,
  "memory": {"nominal_gb": 80, "usable_mib": 81559, "type": "HBM3", "bandwidth_gb_s": 3350},
  "peak_tflops": {"fp64": 34, "fp32": 67, "tf32": 494, "fp16": 989, "bf16": 989, "fp8": 1979, "int8": 1979, "fp4": 3000},
  "bf16_matmul_ceiling": {"share_of_peak": 0.7, "source": "us"},
  "interconnect": {"name": "NVLink", "one_way_gb_s": 450, "joins": 8}, "pcie": {"one_way_gb_s": 64},
  "gpus_per_node": 8, "network_gbit_s": 3200, "tdp_w": 700, "chip": {"units": 132, "cache_mib": 50},
  "price": {"usd_per_hour": 2, "source": "us"}, "sources": ["us"], "notes": "none"})");

cli::Outcome fit_with(const json& gpu) {
  const Folder folder;
  folder.write("accelerators/own.json", json::array({gpu}).dump());
  return outcome({"fit", "--params", "1e9", "--gpu", "own:16", "--presets", folder.path(), "--format", "json"});
}

const json own_rates = json::parse(R"({"id": "ours", "stands_for": {"arch": "Hopper"}, "measured": "ours",
  "operations": "h100-sxm", "units": 132,
  "products": {"tile_share_of_peak": 0.94, "ceiling_share_of_peak": 0.81, "best_tile_share_of_peak": 0.97,
               "fill_elements": 250, "whole_waves": 0.5, "narrow_over_wide": 0.91,
               "four_bits_over_narrow": 0.9},
  "in_a_run": {"products_over_alone": 0.9, "narrow_over_alone": 0.9, "large_over_products": 0.92},
  "power": {"watts": 700, "peak_tflops": 989.4, "exponent": 0.25},
  "attention": {"share_of_products": 0.7,
                "native": {"share_of_peak": 0.7, "fixed_keys": 300, "exponential_elements": 43, "block_queries": 128},
                "flash_2": {"share_of_peak": 0.4, "fixed_keys": 130, "exponential_elements": 27, "block_queries": 128}},
  "memory": {"kernels_share_of_bandwidth": 0.8, "eager_share_of_bandwidth": 0.5, "cached_share_of_bandwidth": 1.2,
             "permuting_over_copying": 0.75},
  "kernels": {"start_us": 2.6, "further_call_us": 4.6},
  "host": {"operation_us": 17, "module_us": 110, "heavy_module_us": 150, "backward_over_forward": 1.2,
           "compiled_over_eager": 0.25, "launch_us": 8.6,
           "pinned_share_of_link": 0.77, "cpu_adam_ns_per_parameter": 0.26, "drive_gb_s": 3}})");

cli::Outcome fit_rated(const json& rates) {
  const Folder folder;
  folder.write("rates/rates.json", rates.dump());
  return outcome({"fit", "--model", "llama-3.2-1b", "--framework", "torchtune", "--gpu", "h100-sxm", "--presets",
                  folder.path(), "--format", "json"});
}

/// The pointers of all numbers.
std::vector<json::json_pointer> numbers_of(const json& value) {
  std::vector<json::json_pointer> pointers;
  const json leaves = value.flatten();
  for (const auto& [pointer, leaf] : leaves.items()) {
    if (leaf.is_number()) pointers.emplace_back(pointer);
  }
  return pointers;
}

}  // namespace

TEST_CASE("a number of an accelerator that is zero is refused or leaves a finite answer") {
  CHECK(fit_with(own_gpu).code == ExitCode::fits);
  for (const auto& pointer : numbers_of(own_gpu)) {
    json gpu = own_gpu;
    gpu[pointer] = 0;
    CAPTURE(pointer.to_string());
    try {
      fit_with(gpu);
    } catch (const quantity::BadInput& error) {
      CHECK_THAT(error.what(), Contains("own.json"));
    }
  }
  json gpu = own_gpu;
  gpu["peak_tflops"]["bf16"] = 0;
  CHECK_THROWS_WITH(fit_with(gpu), Contains("own.json:/0/peak_tflops/bf16"));
}

TEST_CASE("a number of the rates that is zero or huge is refused or leaves a finite answer") {
  for (const auto& pointer : numbers_of(own_rates)) {
    for (const double number : {0.0, 1e30}) {
      json rates = own_rates;
      rates[pointer] = number;
      CAPTURE(pointer.to_string(), number);
      try {
        const json answer = json::parse(fit_rated(rates).answer);
        CHECK(answer["time"]["step_seconds"].is_number());
      } catch (const quantity::BadInput& error) {
        CHECK_THAT(error.what(), Contains("rates.json:" + pointer.to_string()));
      }
    }
  }
}

/// Of two rates of products the time of a step that consists of them is between their ratio and none.
TEST_CASE("a user's rates set the pace of a step") {
  json slow = own_rates;
  slow["in_a_run"]["products_over_alone"] = 0.45;
  const auto seconds = [](const json& rates) {
    return json::parse(fit_rated(rates).answer)["time"]["step_seconds"].get<double>();
  };
  CHECK(seconds(slow) > 1.3 * seconds(own_rates));
  CHECK(seconds(slow) < 2.0 * seconds(own_rates));
}

TEST_CASE("rates that name operations nobody measured are refused by name") {
  json rates = own_rates;
  rates["operations"] = "h200";
  const Folder folder;
  folder.write("rates/rates.json", rates.dump());
  CHECK_THROWS_WITH(
      outcome({"serve", "--model", "llama-3-8b", "--gpu", "gh200-96", "--engine", "vllm", "--presets", folder.path()}),
      Contains("none were measured") && Contains("h200-sxm"));
}

TEST_CASE("a folder that holds no presets is no folder of presets") {
  const Folder folder;
  folder.write("gpus/own.json", "[]");
  CHECK_THROWS_WITH(outcome({"gpu", "list", "--presets", folder.path()}), Contains("has none of the folders models"));
  CHECK_THROWS_WITH(outcome({"gpu", "list", "--presets", folder.path() + "/none"}), Contains("is no folder"));
  for (const auto* kind : {"models", "accelerators", "families", "rates"}) {
    const Folder one;
    one.write(std::string(kind) + "/own.json", "[]");
    CHECK(outcome({"gpu", "list", "--presets", one.path()}).code == ExitCode::fits);
  }
}

TEST_CASE("what a preset says of itself never reaches a terminal as a command") {
  json gpu = own_gpu;
  gpu["name"] = "Own \x1B[31m";
  gpu["notes"] = "bell \x07";
  const Folder folder;
  folder.write("accelerators/own.json", json::array({gpu}).dump());
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"gpu", "show", "own"}, {"gpu", "list"}, {"fit", "--params", "1e9", "--gpu", "own"}}) {
    auto all = words;
    all.insert(all.end(), {"--presets", folder.path()});
    const auto text = outcome(all).answer;
    CHECK(text.find('\x1B') == std::string::npos);
    CHECK(text.find('\x07') == std::string::npos);
  }
}

TEST_CASE("the model that was named is the one that is printed and started", "[long]") {
  const auto check = [](const std::string& repository) {
    CAPTURE(repository);
    try {
      const auto answer = outcome({"serve", repository, "--engine", "vllm", "--gpu", "h200:8", "--format", "json"});
      const auto reply = json::parse(answer.answer);
      CHECK(quantity::to_lower(repository).ends_with(reply["question"]["model"]["value"].get<std::string>()));
      CHECK_THAT(reply["launch"].get<std::string>() + " ", Contains(" " + repository + " "));
    } catch (const quantity::BadInput&) {  // what the engine has not
    }
  };
  for (const auto& preset : read::Catalogue().models()) {
    for (const auto& alias : preset.aliases) {
      if (alias.find('/') != std::string::npos) check(alias);
    }
  }
}

/// The eight words that docs/json.md lists; "row" is of lists of runs, which echo no question.
TEST_CASE("each value of a question says who said it") {
  const Folder folder;
  const std::string shape =
      R"({"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
          "num_key_value_heads": 4, "intermediate_size": 512, "vocab_size": 1000, "max_position_embeddings": 2048})";
  folder.write("presets/models/own.json",
               R"([{"id": "own", "family": "llama", "sources": {"read": ["us"]}, "config": )" + shape + "}]");
  const auto config = folder.write("config.json", shape);
  const auto task = folder.write("run.sh", "vllm serve meta-llama/Llama-3.1-8B --tensor-parallel-size 2\n");
  const std::vector<std::pair<std::vector<std::string>, std::vector<std::pair<std::string, std::string>>>> all{
      {{"fit", "own", "--presets", folder.path() + "/presets"}, {{"layers", "user_preset"}, {"model", "flag"}}},
      {{"fit", "gpt2"}, {{"layers", "preset"}, {"framework", "assumed"}, {"offload", "default"}}},
      {{"fit", "--config", config}, {{"layers", "config"}, {"gpu", "flag"}}},
      {{"fit", "--params", "1B"}, {{"layers", "assumed"}}},
      {{"serve", "--from", task}, {{"tp", "file"}, {"concurrency", "default"}}}};
  for (auto [words, origins] : all) {
    words.insert(words.end(), {"--gpu", "h100-sxm:2", "--format", "json"});
    const auto question = json::parse(outcome(words).answer).at("question");
    for (const auto& [term, origin] : origins) {
      CAPTURE(words, term);
      CHECK(question.at(term).at("origin") == origin);
    }
  }
}

namespace {

/// \return how many numbers of a preset's file are shown under the same names
int same_numbers(const json& file, const json& shape) {
  int same = 0;
  for (const auto& [key, value] : file.items()) {
    if (!shape.contains(key)) continue;
    CAPTURE(key);
    if (value.is_object() && shape.at(key).is_object()) same += same_numbers(value, shape.at(key));
    if (!value.is_number()) continue;
    CHECK(shape.at(key) == value);
    ++same;
  }
  return same;
}

}  // namespace

TEST_CASE("what a preset's file says of a shape is shown of it under the same name") {
  int same = 0;
  for (const auto& file : std::filesystem::directory_iterator(LLMCALC_TEST_DATA "/../presets/models")) {
    std::ifstream stream(file.path());
    for (const json& entry : json::parse(stream)) {
      const auto id = entry.at("id").get<std::string>();
      CAPTURE(id);
      const auto shown = json::parse(outcome({"model", "show", id, "--format", "json"}).answer);
      same += same_numbers(entry, shown.at("model").at("shape"));
    }
  }
  CHECK(same > 2000);
}
