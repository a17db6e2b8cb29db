// Prompts under llama.cpp by the rows of a chunk (-ub): weights are read once a chunk, and experts fill whole tiles.
#include "catch.hpp"
#include "serving/answer.hpp"
#include "serving/questions.hpp"

#include <string>
#include <vector>

namespace {

using namespace llmcalc;
using quantity::in_seconds;
using test::with;
using Words = std::vector<std::string>;

double prompt_s(const Words& words) {
  return in_seconds(serving::serve(test::served(with(words, {"engine", "llama.cpp", "prompt", "2048", "output", "1"})))
                        .speed->prefill);
}

const Words gemma{"model", "gemma-4-26b-a4b", "quant", "q4_k_m", "gpu", "rtx-3090"};
const Words llama{"model", "llama-3.1-8b", "quant", "q5_0"};

}  // namespace

// Pull 22298 of llama.cpp: 912 tokens a second in chunks of 16 of Gemma 4 26B-A4B, 2,552 in chunks of 256 (and 5,212 in
// chunks of 2,048, where half more is said); pull 7716: 618 and 785 of Llama 3 8B on a P40 with 64 and 2,048.
TEST_CASE("a mixture's prompt waits for its tiles in small chunks, a dense one's hardly", "[chunks]") {
  const auto gains = [](const Words& words, const char* few, const char* many) {
    return prompt_s(with(words, {"ubatch", few})) / prompt_s(with(words, {"ubatch", many}));
  };
  CHECK(gains(gemma, "16", "256") == Approx(2552.0 / 912.0).epsilon(0.1));
  CHECK(gains(with(llama, {"gpu", "p40"}), "64", "2048") == Approx(785.0 / 618.0).epsilon(0.1));
}

TEST_CASE("a dense prompt takes no longer in larger chunks", "[chunks]") {
  const Words words = with(llama, {"gpu", "rtx-4090"});
  double before = prompt_s(with(words, {"ubatch", "16"}));
  for (const char* rows : {"32", "64", "128", "256", "512", "1024", "2048"}) {
    CAPTURE(rows);
    const double seconds = prompt_s(with(words, {"ubatch", rows}));
    CHECK(seconds < before);
    before = seconds;
  }
}

// XiongjieDai/GPU-Benchmarks-on-LLM-Inference: a 4090 read 1,024 tokens of Q4_K_M at 0.76 of the pace of F16 in May
// 2024; pull 24127 of llama.cpp: at 1.3 of it in June 2026. Volta multiplies no integers in matrices and widens codes
// still.
TEST_CASE("codes of a prompt are multiplied as integers since June 2024", "[chunks]") {
  const auto gain = [](const char* gpu) {
    const Words words{"model", "llama-3.1-8b", "quant", "q4_k_m", "gpu", gpu};
    return prompt_s(with(words, {"engine_version", "2024-05"})) / prompt_s(with(words, {"engine_version", "2024-06"}));
  };
  CHECK(gain("rtx-4090") > 1.2);
  CHECK(gain("v100-pcie-32") == 1.0);
}
