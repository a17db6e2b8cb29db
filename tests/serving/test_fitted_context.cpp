// The context of a server that fits it to its cards where nobody says one.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/presets.hpp"
#include "serving/answer.hpp"
#include "serving/capacity.hpp"
#include "serving/questions.hpp"

#include <string>
#include <vector>

namespace {

using namespace llmcalc;
using Words = std::vector<std::string>;

constexpr std::int64_t least = 4096;
constexpr std::int64_t piece = 256;

serving::Deployment deployed(const Words& words) { return serving::deploy(test::served(words)); }

std::int64_t spare_mib(const serving::Deployment& server, std::int64_t context) {
  const auto memory = serving::tightest_rank(server, {context, 1});
  return quantity::in_bytes(memory.pool - memory.needed) / (std::int64_t{1} << 20);
}

}  // namespace

// llama.cpp tools/fit-params/README.md: qwen_3-30b3a-f16 on an RTX 4090 of 24,077 MiB. "projected to use 61807 MiB",
// "context size reduced from 40960 to 4096 -> need 3456 MiB less memory in total".
TEST_CASE("a context is shortened as llama.cpp's own page shows") {
  const Words words{"model", "qwen3-30b-a3b", "engine", "llama.cpp", "quant", "f16", "gpu", "rtx-4090"};
  const auto server = deployed(words);
  CHECK(server.setup.context == least);
  const auto whole = deployed(test::with(words, {"context", "0", "gpu_layers", "all"}));
  CHECK(whole.setup.context == 40960);
  const auto cache = [&](std::int64_t context) { return serving::tightest_rank(whole, {context, 1}).needed; };
  CHECK(quantity::in_bytes(cache(40960) - cache(least)) == std::int64_t{3456} << 20);
  CHECK(spare_mib(whole, 40960) == Approx(24077 - 61807).margin(620));
}

// The same page: of that card 20,387 MiB were free beside a context of CUDA ("need to reduce device memory by 42444
// MiB"), "with only dense weights in device memory there is a total surplus of 16164 MiB", "48 layers (34
// overflowing)".
TEST_CASE("experts are left to the host as llama.cpp's own page shows") {
  const Words words{"model", "qwen3-30b-a3b", "engine", "llama.cpp", "quant", "f16", "gpu", "rtx-4090"};
  const auto server = deployed(test::with(words, {"memory", std::to_string(20387 + 330) + "MiB"}));
  CHECK(server.setup.context == least);
  CHECK(server.setup.host_experts == 34);
  CHECK(server.setup.host_layers == 0);
  const auto dense = deployed(test::with(words, {"memory", "20717MiB", "cpu_experts", "48", "context", "4096"}));
  CHECK(spare_mib(dense, least) - 1024 == Approx(16164).epsilon(0.02));
}

/// Of a dense model whole layers, and none where the machine has no room for them or one memory with its card.
TEST_CASE("layers that no card has room for are left to a host that has it") {
  const Words words{"model", "llama-3.1-70b", "engine", "llama.cpp", "quant", "q4_k_m", "gpu", "rtx-4090"};
  const auto server = deployed(words);
  CHECK(server.setup.host_layers > 0);
  CHECK(spare_mib(server, server.setup.context) >= 1024);
  auto fewer = server;
  --fewer.setup.host_layers;
  CHECK(spare_mib(fewer, server.setup.context) < 1024);
  CHECK(deployed(test::with(words, {"host_memory", "16GiB"})).setup.host_layers == 0);
  CHECK(deployed(test::with(words, {"gpu_layers", "all"})).setup.host_layers == 0);
  CHECK(deployed(test::with(words, {"engine_version", "2025-10"})).setup.host_layers == 0);
  const Words mac{"model", "llama-3.1-70b", "engine", "llama.cpp", "quant", "q4_k_m", "gpu", "apple-m2"};
  CHECK(deployed(mac).setup.host_layers == 0);
}

TEST_CASE("a context that nobody said leaves a GiB of every card, and one piece more does not", "[long]") {
  std::size_t shortened = 0;
  for (const auto& preset : read::Catalogue().models()) {
    for (const char* cards : {"rtx-3060-12", "rtx-3090:2", "apple-m2-ultra"}) {
      const Words words{"model", preset.id, "engine", "llama.cpp", "quant", "q4_k_m", "gpu", cards};
      CAPTURE(preset.id, cards);
      serving::Deployment whole;
      try {
        whole = deployed(test::with(words, {"context", "0"}));
      } catch (const quantity::BadInput&) {
        continue;
      }
      const auto server = deployed(test::with(words, {"gpu_layers", "all"}));
      const std::int64_t context = server.setup.context;
      CHECK(deployed(words).setup.context == context);
      REQUIRE(context <= whole.setup.context);
      if (context == whole.setup.context) {
        CHECK((context <= least || spare_mib(server, context) >= 1024));
        continue;
      }
      ++shortened;
      CHECK(context % piece == 0);
      CHECK((context == least || spare_mib(server, context) >= 1024));
      CHECK(spare_mib(server, context + piece) < 1024);
      const auto said = deployed(test::with(words, {"context", std::to_string(context), "gpu_layers", "all"}));
      CHECK(spare_mib(said, context) == spare_mib(server, context));
    }
  }
  CHECK(shortened > 200);
}

TEST_CASE("a context is as long as the model's under builds and engines that shorten none") {
  const Words server{"model", "qwen3-30b-a3b", "quant", "q8_0", "gpu", "rtx-4090"};
  CHECK(deployed(test::with(server, {"engine", "llama.cpp", "engine_version", "2025-10"})).setup.context == 40960);
  CHECK(deployed(test::with(server, {"engine", "llama.cpp", "engine_version", "b7400"})).setup.context == 40960);
  CHECK(deployed(test::with(server, {"engine", "llama.cpp", "engine_version", "b7437"})).setup.context == least);
  CHECK(deployed(test::with(server, {"engine", "ollama"})).setup.context == 32768);
}

TEST_CASE("a context of zero is the model's own under every engine") {
  for (const char* engine : {"vllm", "sglang", "trtllm", "llama.cpp", "ollama", "hf"}) {
    CAPTURE(engine);
    const Words server{"model", "llama-3.1-8b", "engine", engine, "gpu", "h100-sxm"};
    CHECK(test::served(test::with(server, {"context", "0"})).serving.load.context == 131072);
  }
}
