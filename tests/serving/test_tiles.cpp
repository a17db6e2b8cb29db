// Weights whose tiles share a scale are cut between tiles, by engines that start with no others.
#include "catch.hpp"
#include "llmcalc/formats/quant.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/presets.hpp"
#include "serving/questions.hpp"
#include "spec/names.hpp"

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

using namespace llmcalc;

namespace {

using Words = std::vector<std::string>;

bool starts(const Words& launch) try {
  test::served(launch, {}, read::Source::file);
  return true;
} catch (const quantity::BadInput&) {
  return false;
}

struct Start {
  const char* model;
  Words ranks;
  bool starts;
};

}  // namespace

TEST_CASE("servers in FP8 start on as many ranks as people found, and on no others") {
  // vLLM issue 17569 and Qwen3-Coder's recipe (reports of May 2025 to vLLM 0.25), SGLang issue 10641
  const Start reported[] = {{"Qwen/Qwen3-235B-A22B-FP8", {"tp", "8"}, false},
                            {"Qwen/Qwen3-235B-A22B-FP8", {"tp", "4"}, true},
                            {"Qwen/Qwen3-235B-A22B-FP8", {"tp", "8", "ep", "8"}, true},
                            {"Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8", {"tp", "8"}, false},
                            {"Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8", {"tp", "4"}, true},
                            {"MiniMaxAI/MiniMax-M2", {"tp", "8"}, false},
                            {"MiniMaxAI/MiniMax-M2", {"tp", "8", "ep", "8"}, true},
                            {"deepseek-ai/DeepSeek-V3", {"tp", "16"}, true},
                            {"deepseek-ai/DeepSeek-V3", {"tp", "32"}, false},
                            {"RedHatAI/Qwen3-235B-A22B-FP8-dynamic", {"tp", "8"}, true}};
  for (const Start& each : reported) {
    for (const char* engine : {"vllm", "sglang"}) {
      CAPTURE(each.model, each.ranks, engine);
      CHECK(starts(test::with({"model", each.model, "engine", engine, "gpu", "h200-sxm"}, each.ranks)) == each.starts);
    }
    CHECK(starts(test::with({"model", each.model, "engine", "trtllm", "gpu", "h200-sxm"}, each.ranks)));
  }
}

TEST_CASE("ranks that were typed leave whole experts to them, as counted accelerators do") {
  const Words server{"model", "MiniMaxAI/MiniMax-M2", "gpu", "h200-sxm:8"};
  const auto counted = test::served(server);
  CHECK(counted.layout.ep == 8);
  CHECK(test::served(test::with(server, {"tp", "8"})).layout == counted.layout);
  CHECK(test::served(test::with(server, {"tp", "8", "ep", "8"})).layout == counted.layout);
  CHECK_THROWS_AS(test::served(test::with(server, {"tp", "8", "ep", "1"})), quantity::BadInput);
}

TEST_CASE("accelerators that are only counted hold whole tiles of every preset", "[long]") {
  std::size_t asked = 0;
  for (const auto& preset : read::Catalogue().models()) {
    if (preset.config.empty() && preset.shape.stack == spec::Stack::encoder) continue;
    for (const char* engine : {"vllm", "sglang"}) {
      for (const char* gpus : {"2", "6", "8", "16"}) {
        CAPTURE(preset.id, engine, gpus);
        spec::Question server;
        try {
          server = test::served(
              {"model", preset.id, "engine", engine, "quant", "fp8-block", "gpu", "h200-sxm", "gpus", gpus});
        } catch (const quantity::BadInput& refusal) {
          CHECK(refusal.place() != "--tp");
          continue;
        }
        ++asked;
        const auto& [shape, layout] = std::tie(server.model.shape, server.layout);
        const std::int64_t tile = formats::facts(server.serving.quant).tile;
        REQUIRE(tile == 128);
        if (shape.moe.experts > 0 && layout.etp > 1) CHECK(shape.moe.expert_ffn / layout.etp % tile == 0);
        if (shape.moe.experts == 0 && layout.tp > 1) CHECK(shape.ffn / layout.tp % tile == 0);
      }
    }
  }
  CHECK(asked > 1'000);
}
