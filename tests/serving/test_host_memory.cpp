// What llama.cpp leaves in host memory: the processor reads it for each token, prompts copy it to the card.
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

serving::Speed paced(const Words& words) { return serving::serve(test::served(words)).speed.value(); }

double prompt_rate(const Words& words, double tokens) { return tokens / in_seconds(paced(words).prefill); }

const Words oss_120b{"engine", "llama.cpp", "model", "gpt-oss-120b", "quant", "mxfp4_moe", "gpu", "rtx-3090"};

}  // namespace

// ai-maestro.online/drastically-improve-prompt-processing-speed-for-n-cpu-moe-partially-offloaded-models-8:
// gpt-oss-120b on a 3090, the link's share from elsewhere (presets/rates/unmeasured.json).
TEST_CASE("a prompt copies the experts that its chunks reach", "[host]") {
  struct Row {
    const char* ubatch;
    const char* experts;
    double measured;
  };
  for (const Row& row : {Row{"512", "26", 380.27}, Row{"2048", "25", 1112.54}, Row{"4096", "26", 1682.47}}) {
    CAPTURE(row.ubatch);
    const auto words = with(oss_120b, {"ubatch", row.ubatch, "batched_tokens", "4096", "cpu_experts", row.experts,
                                       "prompt", "4096", "output", "1"});
    CHECK(prompt_rate(words, 4096) == Approx(row.measured).epsilon(0.25));
  }
}

TEST_CASE("the processor works where layers or experts are left to it, and nowhere else", "[host]") {
  const auto works = [](const Words& more) {
    const Words words{"model", "qwen3-30b-a3b", "quant", "q4_k_m", "engine", "llama.cpp", "gpu", "rtx-4090"};
    return serving::uses_processor(serving::deploy(test::served(with(words, more))));
  };
  CHECK_FALSE(works({}));
  CHECK(works({"gpu_layers", "20"}));
  CHECK(works({"cpu_experts", "10"}));
}

// AlexsJones/llmfit pulls 755, 774 and 775: an RTX 2080 of 8 GB beside four channels of DDR4-3200.
TEST_CASE("what lies in host memory is read at its bandwidth", "[host]") {
  struct Row {
    Words words;
    double measured;
  };
  const std::vector<Row> rows{{{"model", "qwen3-30b-a3b", "quant", "q4_k_m", "cpu_experts", "36"}, 36.7},
                              {{"model", "qwen3-14b", "quant", "q4_k_m", "gpu_layers", "32"}, 16.9}};
  for (const Row& row : rows) {
    CAPTURE(row.words);
    const auto speed = paced(with(row.words, {"engine", "llama.cpp", "gpu", "rtx-2080", "context", "4096",
                                              "host_bandwidth", "ddr4-3200:4", "prompt", "128", "output", "256"}));
    CHECK(speed.tokens_per_s_per_user == Approx(row.measured).epsilon(0.25));
  }
}

// Time is what the card takes and bytes over bandwidth: of three bandwidths, each twice the one before, the differences
// halve.
TEST_CASE("a token takes the card's time and the host's bytes over its bandwidth", "[host]") {
  for (const Words& left : std::vector<Words>{{"cpu_experts", "30"}, {"gpu_layers", "10"}}) {
    const auto step = [&](const char* gb_s) {
      return in_seconds(
          paced(with(with(oss_120b, left), {"host_bandwidth", gb_s, "prompt", "64", "output", "64"})).decode_step);
    };
    CAPTURE(left);
    CHECK(step("50") - step("100") == Approx(2 * (step("100") - step("200"))));
    CHECK(step("50") > step("100"));
    CHECK(step("96") == step("ddr5-6000"));
    CHECK(step("204.8") == step("ddr4-3200:8"));
  }
  const auto all_on_card = with(oss_120b, {"memory", "100GiB", "prompt", "64", "output", "64"});
  CHECK(paced(all_on_card).decode_step == paced(with(all_on_card, {"host_bandwidth", "10"})).decode_step);
}
