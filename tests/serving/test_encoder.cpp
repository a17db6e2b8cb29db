// What vLLM's profile run takes of a vision encoder.
#include "catch.hpp"
#include "quantity/lists.hpp"
#include "serving/answer.hpp"
#include "serving/inner/vllm.hpp"
#include "serving/questions.hpp"

#include <string>
#include <vector>

namespace {

using namespace llmcalc;

/// A text model whose images have so many positions, of which `merged` become one token.
serving::EncoderRun run_of(std::int64_t positions, std::int64_t merged, std::int64_t budget, std::int64_t tp = 1) {
  auto question = test::served({"model", "llama-3.1-8b", "gpu", "h100-sxm:" + std::to_string(tp)});
  spec::Tower tower;
  tower.name = "vision";
  tower.layers.hidden = 1152;  // google/siglip-so400m-patch14
  tower.layers.ffn = 4304;
  tower.layers.mlp = spec::Mlp::gelu;
  tower.positions = positions;
  tower.merged = merged;
  question.model.shape.towers.push_back(tower);
  return serving::encoder_run({question, {}, {}, {}, {}, {}}, budget);
}

}  // namespace

// Logs of vLLM, v1/worker/gpu_model_runner.py: "budget of 65536 tokens, and profiled with 4 image items of the maximum
// feature size" and "16384 tokens, 1 image items" of Qwen3.5, whose largest image has 16384 tokens of four positions;
// "8192 tokens, 31 image items" of Gemma 3, whose 4096 positions make 256 tokens and 4 around them.
TEST_CASE("as many images are encoded at once as a step has tokens for") {
  CHECK(run_of(65'536, 4, 65'536).items == 4);
  CHECK(run_of(65'536, 4, 16'384).items == 1);
  CHECK(run_of(65'536, 4, 2'048).items == 1);
  CHECK(static_cast<double>(run_of(4'096, 16, 8'192).items) == Approx(31).margin(1));
}

TEST_CASE("what flows through an encoder's layer counts once for each position, its MLP's part by the ranks") {
  const auto one = run_of(4'096, 16, 2'048);
  CHECK(quantity::in_bytes(one.outputs) == 2'048 * 4096 * 2);
  CHECK(quantity::in_bytes(one.peak) == 2'048LL * 16 * 2 * (2 * 1152 + 2 * 4304));
  CHECK(quantity::in_bytes(run_of(4'096, 16, 2'048, 2).peak) == 2'048LL * 16 * 2 * (2 * 1152 + 2 * 2152));
}

// Two starts of Qwen3.5-9B in 4 bits on one card (vLLM 0.17.1, eager): 0.53 of it with steps of 6,144 tokens
// leave 13.11 GiB of cache, 0.33 with steps of 4,096 leave 4.24, and the weights take 8.41 both times. So the card
// has 44.35 GiB, an L40S, and 1.98 GiB are held beside weights and cache whatever a step takes: the encoder's pass and
// 0.12 GiB.
TEST_CASE("a start with one image of the largest size leaves the cache that vLLM logs") {
  for (const auto* tokens : {"6144", "4096"}) {
    const auto question = test::served(
        {"model", "qwen3.5-9b", "gpu", "l40s", "engine_version", "0.17.1", "graphs", "0", "batched_tokens", tokens});
    const auto answer = serving::serve(question);
    const auto* held = quantity::find_or_null(answer.memory.holdings, "profile_run", &serving::MemoryLine::id);
    REQUIRE(held != nullptr);
    CHECK(in_gib(held->size) == Approx(1.98 - 0.12).margin(0.05));
  }
}

TEST_CASE("a text model has no encoder to run") {
  const auto question = test::served({"model", "llama-3.1-8b", "gpu", "h100-sxm"});
  CHECK(serving::encoder_run({question, {}, {}, {}, {}, {}}, 8192).items == 0);
}
