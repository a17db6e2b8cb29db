// Presets of the user: what is wrong with them is said, and what they hold cannot command a terminal.
#include "catch.hpp"
#include "cli/folder.hpp"
#include "cli/run.hpp"
#include "llmcalc/quantity/error.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using namespace llmcalc;
using Catch::Matchers::Contains;
using nlohmann::json;
using test::Folder;

namespace {

cli::Outcome run(const std::vector<std::string>& words) { return cli::run(words, cli::Environment{}); }

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
  return run({"fit", "--params", "1e9", "--gpu", "own:16", "--presets", folder.path(), "--format", "json"});
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
  CHECK(fit_with(own_gpu).code == cli::ExitCode::fits);
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

TEST_CASE("a folder that holds no presets is no folder of presets") {
  const Folder folder;
  folder.write("gpus/own.json", "[]");
  CHECK_THROWS_WITH(run({"gpu", "list", "--presets", folder.path()}), Contains("neither a folder models"));
  CHECK_THROWS_WITH(run({"gpu", "list", "--presets", folder.path() + "/none"}), Contains("is no folder"));
  folder.write("models/own.json", "[]");
  CHECK(run({"gpu", "list", "--presets", folder.path()}).code == cli::ExitCode::fits);
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
    const auto text = run(all).answer;
    CHECK(text.find('\x1B') == std::string::npos);
    CHECK(text.find('\x07') == std::string::npos);
  }
}
