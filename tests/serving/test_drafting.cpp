// A model that proposes tokens beside the one that is served.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "serving/answer.hpp"
#include "serving/questions.hpp"
#include "serving/speed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace {

using namespace llmcalc;
using quantity::in_bytes;
using test::served;
using test::with;

std::int64_t held(const serving::RankMemory& memory, std::string_view id) {
  std::int64_t sum = 0;
  for (const auto& holding : memory.holdings) {
    if (holding.id == id) sum += in_bytes(holding.size);
  }
  return sum;
}

const std::vector<std::string> llama_8b{"model", "llama-3.1-8b", "gpu", "h100-sxm"};

serving::Speed speed_of(const std::vector<std::string>& more) {
  return serving::speed_of(serving::deploy(served(with(llama_8b, more)))).value();
}

}  // namespace

// meta-llama/Llama-3.2-1B: 1,235,814,400 parameters (its model card's tensors); config.json: 16 layers, 8 heads of keys
// and values of 64.
TEST_CASE("a draft model holds its weights and keeps keys and values of every token") {
  for (const char* engine : {"vllm", "sglang", "trtllm"}) {
    CAPTURE(engine);
    const auto words = with(llama_8b, {"engine", engine, "context", "8k"});
    const auto alone = serving::serve(served(words));
    const auto drafted = serving::serve(served(with(words, {"draft", "llama-3.2-1b"})));
    CHECK(held(drafted.memory, "draft") == 2 * 1'235'814'400LL);
    CHECK(in_bytes(drafted.bytes_per_token) - in_bytes(alone.bytes_per_token) == 16 * 2 * 8 * 64 * 2);
  }
}

TEST_CASE("a draft model of llama.cpp has a cache of its own in 16 bits") {
  const auto words = with(llama_8b, {"engine", "llama.cpp", "context", "8k", "slots", "1"});
  const auto drafted = serving::serve(served(with(words, {"draft", "llama-3.2-1b"})));
  constexpr std::int64_t cells = 8192;
  constexpr std::int64_t mask = 2 * 512;  // of a cell
  CHECK(held(drafted.memory, "draft") == cells * (16 * 2 * 8 * 64 * 2 + mask));
  // Logits of 128,256 tokens and four tensors of the hidden state's 2,048, in fp32, for a pass of 512.
  CHECK(held(drafted.memory, "compute_draft") == 512LL * 4 * (128'256 + 4 * 2'048));
}

// vllm/v1/spec_decode/eagle.py, propose: logits of the whole vocabulary for each proposed token.
TEST_CASE("each proposed token reads the head") {
  const auto step_of = [](const char* draft) { return quantity::in_seconds(speed_of({"draft", draft}).decode_step); };
  constexpr double head = 128'256.0 * 4096 * 2;
  constexpr double bandwidth = 3.35e12;
  CHECK(step_of("eagle:3") - step_of("eagle:2") > head / bandwidth);
}

// Leviathan et al. 2023, arXiv:2211.17192 equation 1, where every proposal is accepted.
TEST_CASE("accepted proposals are that many tokens of one step") {
  const auto all = speed_of({"draft", "llama-3.2-1b:3", "accept", "1"});
  CHECK(quantity::in_seconds(all.tpot) == Approx(quantity::in_seconds(all.decode_step) / 4).epsilon(0.02));
  const auto none = speed_of({"draft", "llama-3.2-1b:3", "accept", "0.001"});
  CHECK(quantity::in_seconds(none.tpot) == Approx(quantity::in_seconds(none.decode_step)).epsilon(0.002));
  for (const double share : {0.3, 0.6, 0.8}) {
    for (const int proposed : {1, 2, 5, 8}) {
      const auto some =
          speed_of({"draft", "llama-3.2-1b:" + std::to_string(proposed), "accept", fmt::format("{}", share)});
      const double kept = (1 - std::pow(share, proposed + 1)) / (1 - share);
      CAPTURE(share, proposed);
      CHECK(quantity::in_seconds(some.tpot) == Approx(quantity::in_seconds(some.decode_step) / kept).epsilon(0.02));
    }
  }
}

TEST_CASE("each proposal passes the draft model once") {
  const double two = quantity::in_seconds(speed_of({"draft", "llama-3.2-1b:2"}).decode_step);
  const double four = quantity::in_seconds(speed_of({"draft", "llama-3.2-1b:4"}).decode_step);
  const auto draft = serving::speed_of(serving::deploy(served({"model", "llama-3.2-1b", "gpu", "h100-sxm"}))).value();
  CHECK(four - two == Approx(2 * quantity::in_seconds(draft.decode_step)).epsilon(0.1));
}

// vLLM docs/features/speculative_decoding, "Pipeline parallelism is not composable as of vllm<=0.15.0", pull requests
// 50514 and 46994; SGLang server_args.py, "PP + speculative decoding is only supported in disaggregated prefill mode".
TEST_CASE("tokens are proposed over stages by the releases that can") {
  const auto starts = [](const std::vector<std::string>& words) {
    const auto question =
        served(with({"model", "deepseek-v3", "gpu", "h100-sxm:16", "tp", "8", "pp", "2", "draft", "mtp:1"}, words));
    try {
      serving::check_abilities(question);
      return serving::can_run(question);
    } catch (const quantity::BadInput& error) {
      CHECK(error.place() == "--draft");
      CHECK_FALSE(serving::can_run(question));
      return false;
    }
  };
  CHECK(starts({"engine", "vllm"}));
  CHECK_FALSE(starts({"engine", "vllm", "engine_version", "0.15.0"}));
  CHECK_FALSE(starts({"engine", "vllm", "engine_version", "0.29.0"}));
  CHECK_FALSE(starts({"engine", "sglang"}));
  CHECK(starts({"engine", "sglang", "role", "prefill"}));
}

TEST_CASE("a draft that is no model, or cannot be cut over the ranks, is refused") {
  const auto place = [](const std::vector<std::string>& words) {
    try {
      served(words);
    } catch (const quantity::BadInput& error) {
      return error.place();
    }
    return std::string();
  };
  CHECK(place(with(llama_8b, {"draft", "llama-3.2-1"})) == "--draft");
  CHECK(place(with(llama_8b, {"draft", "llama-3.2-1b:65"})) == "--draft");
  CHECK(place({"model", "llama-3.1-70b", "gpu", "h100-sxm:4", "tp", "4", "draft", "qwen2.5-0.5b"}) == "--tp");
  CHECK(place(with(llama_8b, {"draft", "mtp:2"})) == "--draft");
  CHECK(place({"model", "qwen3.5-9b", "gpu", "h100-sxm", "draft", "mtp:2"}).empty());
  CHECK(place({"model", "deepseek-v3", "gpu", "h200-sxm:8", "tp", "8", "draft", "mtp:1"}).empty());
}
