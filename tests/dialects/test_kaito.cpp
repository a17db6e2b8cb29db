// Servers that KAITO starts for a workspace (kaito-project/kaito).

#include "catch.hpp"
#include "dialects/reading.hpp"
#include "llmcalc/quantity/error.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

using namespace llmcalc;
using Catch::Matchers::Contains;

namespace {

dialects::Reading read_workspace(const std::string& text) {
  return dialects::read_launch_file(text, "ws.yaml",
                                    [](const std::string&) { return std::optional<dialects::NamedFile>(); });
}

std::string workspace(std::string_view model, std::string_view machine, std::string_view more = "") {
  return fmt::format(
      "apiVersion: kaito.sh/v1beta1\nkind: Workspace\nmetadata:\n  name: w\nresource:\n  instanceType: "
      "{}\n{}inference:\n"
      "  preset:\n    name: {}\n",
      machine, more, model);
}

std::string word_of(const dialects::Reading& reading, std::string_view term) {
  for (const auto& each : reading.words) {
    if (each.term == term) return each.text;
  }
  return "";
}

}  // namespace

/// pkg/model/interface.go, modelFitsOnSingleGPU: copies where modelSize * numGPUs * 2 < the machine's memory and it has
/// several cards. Sizes are those of the catalogue, or of the files on the Hub: Qwen3-8B 16.4 GB, Qwen3-32B 65.5 GB.
/// Memory is what Azure says of the machines: 4 x 80, 2 x 94, 2 x 24, 4 x 16 GiB.
TEST_CASE("KAITO copies a model whose files take less than half a card, and splits others over the machine") {
  struct Case {
    std::string_view model, machine;
    std::string_view tp, gpus;
  };
  constexpr Case cases[] = {{"phi-4", "Standard_NC96ads_A100_v4", "1", "4"},                       // 27.31 GiB of 80
                            {"qwen2.5-coder-32b-instruct", "Standard_NC96ads_A100_v4", "4", "4"},  // 61.03 of 80
                            {"Qwen/Qwen3-32B", "Standard_NC96ads_A100_v4", "4", "4"},              // 61.0 of 80
                            {"Qwen/Qwen3-8B", "Standard_NC80adis_H100_v5", "1", "2"},              // 15.3 of 94
                            {"Qwen/Qwen3-8B", "Standard_NV72ads_A10_v5", "2", "2"},                // 15.3 of 24
                            {"openai/gpt-oss-20b", "Standard_NC80adis_H100_v5", "1", "2"},         // 25.63 of 94
                            {"gpt-oss-20b", "Standard_NV72ads_A10_v5", "2", "2"},                  // 25.63 of 24
                            {"phi-4-mini-instruct", "Standard_NV72ads_A10_v5", "1", "2"},          // 7.15 of 24
                            {"phi-3-mini-4k-instruct", "Standard_NC64as_T4_v3", "1", "4"},         // 7.12 of 16
                            {"llama-3.1-8b-instruct", "Standard_NC24ads_A100_v4", "1", "1"}};      // one card: neither
  for (const auto& each : cases) {
    CAPTURE(each.model, each.machine);
    const auto reading = read_workspace(workspace(each.model, each.machine));
    CHECK(word_of(reading, "tp") == each.tp);
    CHECK(word_of(reading, "gpus") == each.gpus);
    CHECK(reading.serves);
  }
}

/// configureParallelism: pipeline over the machines, tensors within each; never copies over several machines.
TEST_CASE("KAITO puts several machines in a row") {
  const auto reading = read_workspace(workspace("phi-4", "Standard_NC96ads_A100_v4", "  count: 2\n"));
  CHECK(word_of(reading, "pp") == "2");
  CHECK(word_of(reading, "tp") == "4");
  CHECK(word_of(reading, "gpus") == "8");
  CHECK(word_of(reading, "nodes") == "2");
}

TEST_CASE("A size that KAITO's catalogue does not say and 16 bits do not make is an assumption") {
  const auto reading = read_workspace(workspace("Qwen/Qwen3-30B-A3B-FP8", "Standard_NC96ads_A100_v4"));
  CHECK(word_of(reading, "tp") == "4");
  std::string all;
  for (const auto& each : reading.assumptions) all += each.words + "\n";
  CHECK_THAT(all, Contains("copies it to each instead where its files take less than half of one"));
}

TEST_CASE("A machine that nobody knows leaves the accelerator to an option") {
  const auto reading = read_workspace(workspace("phi-4", "Standard_NC4_A2"));
  CHECK(word_of(reading, "gpu").empty());
  CHECK(word_of(reading, "tp") == "1");
}

TEST_CASE("What KAITO runs that is not modelled is refused at its line") {
  const std::string tuning =
      "kind: Workspace\nresource:\n  instanceType: Standard_NC6s_v3\ntuning:\n  preset:\n    name: phi-2\n  method: "
      "qlora\n";
  CHECK_THROWS_WITH(read_workspace(tuning), Contains("ws.yaml:6") && Contains("ConfigMap of the cluster"));
  const std::string server =
      "kind: Workspace\nmetadata:\n  annotations:\n    kaito.sh/runtime: transformers\ninference:\n  preset:\n    "
      "name: phi-2\n";
  CHECK_THROWS_WITH(read_workspace(server),
                    Contains("ws.yaml:4") && Contains("server of transformers is not modelled"));
}
