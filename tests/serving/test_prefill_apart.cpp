// Prompts that some servers read and others answer: bytes on their way, what waits for what, and how many of each.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "serving/answer.hpp"
#include "serving/questions.hpp"

#include <cmath>
#include <string>
#include <vector>

namespace {

using namespace llmcalc;
using quantity::in_seconds;
using test::with;
using Words = std::vector<std::string>;

serving::ServingAnswer ask(const Words& words) { return serving::serve(test::served(words)); }

const std::vector<Words> apart{
    {"engine", "vllm", "model", "llama-3.1-70b", "gpu", "h100-sxm", "gpus", "16", "tp", "4", "prefill_servers", "2"},
    {"engine", "sglang", "model", "qwen3-32b", "quant", "fp8", "gpu", "h100-sxm", "gpus", "8", "tp", "2",
     "prefill_servers", "3"},
    {"engine", "trtllm", "model", "llama-3.1-8b", "gpu", "b200-sxm", "gpus", "8", "tp", "1", "prefill_servers", "4"},
    {"engine", "vllm", "model", "llama-3.1-70b", "quant", "fp8", "gpu", "h200-sxm", "gpus", "8", "tp", "4",
     "prefill_tp", "2", "prefill_servers", "2"}};

const Words chat{"prompt", "4096", "output", "512"};

}  // namespace

// DistServe (OSDI 2024, arXiv:2401.09670 section 3.3): 512 tokens of OPT-66B are 1.13 GB, and 10 such requests a second
// need 90 Gbit/s.
TEST_CASE("a cache on its way takes its bytes over the network's rate", "[prefill]") {
  const Words opt{"layers", "64",  "hidden",      "9216", "heads", "72", "vocab", "50272",           "ffn",
                  "36864",  "gpu", "a100-80-sxm", "gpus", "16",    "tp", "4",     "prefill_servers", "2",
                  "prompt", "512", "output",      "64"};
  constexpr double gib = 1024.0 * 1024 * 1024;
  constexpr double gigabit = 1e9 / 8;
  constexpr double reached = 0.9;  // of InfiniBand, timing/network.hpp
  for (const double gbps : {100.0, 800.0, 3200.0}) {
    const auto answer = ask(with(opt, {"inter_node_gbps", std::to_string(gbps), "nodes", "2"}));
    REQUIRE(answer.speed);
    const double all_ranks_of_a_node = gbps * gigabit * reached;
    const double four_of_eight_send = 2.0;  // the accelerators of a node share its network
    CHECK(in_seconds(answer.speed->handover) ==
          Approx(four_of_eight_send * 1.13 * gib / all_ranks_of_a_node).epsilon(0.03));
  }
}

TEST_CASE("a step holds no prompt of others where they are read elsewhere", "[prefill]") {
  for (const Words& server : apart) {
    for (const char* concurrency : {"1", "8", "64"}) {
      const Words load = with(chat, {"concurrency", concurrency});
      const auto speed = ask(with(server, load)).speed;
      CAPTURE(server, concurrency);
      REQUIRE(speed);
      CHECK(speed->tpot == speed->decode_step);
      CHECK(speed->ttft > speed->prefill + speed->handover);
      CHECK(speed->concurrency == Approx(std::stod(concurrency)));
      // Little's law of all that are in flight, wherever they are.
      CHECK(speed->requests_per_s * in_seconds(speed->request) == Approx(std::stod(concurrency)).epsilon(1e-3));
    }
  }
}

TEST_CASE("servers that read prompts hold what such a server holds alone", "[prefill]") {
  for (const Words& server : apart) {
    const auto answer = ask(with(server, chat));
    REQUIRE(answer.prefill);
    const auto& layout = answer.deployment.prefill->question.layout;
    Words alone = with({server.begin(), server.begin() + 2}, chat);
    for (std::size_t i = 2; i < server.size(); i += 2) {
      if (server[i] == "model" || server[i] == "quant" || server[i] == "gpu")
        alone = with(alone, {server[i], server[i + 1]});
    }
    const auto same = ask(with(alone, {"tp", std::to_string(layout.tp), "role", "prefill"}));
    CAPTURE(server);
    CHECK(same.memory.held() == answer.prefill->held());
    CHECK(same.memory.pool == answer.prefill->pool);
    CHECK(in_seconds(same.speed->prefill) == Approx(in_seconds(answer.speed->prefill)));
  }
}

// A server that works without a pause reads one prompt after another: so many a second, whoever answers them.
TEST_CASE("a rate is answered as far as both kinds of servers go", "[prefill]") {
  for (const Words& server : apart) {
    const auto most = ask(with(with(server, chat), {"concurrency", "100000"})).speed->requests_per_s;
    for (const double share : {0.3, 0.8, 1.1}) {
      const auto answer = ask(with(with(server, chat), {"rate", std::to_string(share * most)}));
      CAPTURE(server, share);
      CHECK(answer.broken_limits.empty() == (share < 1));
      if (share < 1) CHECK(answer.speed->tail->ttft.p95 >= answer.speed->tail->ttft.p50);
      if (share < 1) CHECK(answer.speed->ttft > answer.speed->prefill);
    }
  }
}

TEST_CASE("more servers that read prompts answer as much as theirs was too few", "[prefill]") {
  const auto most = [](const char* readers, const char* gpus) {
    return ask({"model", "llama-3.1-8b", "gpu", "h100-sxm", "tp", "1", "gpus", gpus, "prefill_servers", readers,
                "prompt", "8192", "output", "32", "concurrency", "100000"})
        .speed->requests_per_s;
  };
  CHECK(most("2", "6") == Approx(2 * most("1", "5")).epsilon(0.01));
}

TEST_CASE("what contradicts servers of two kinds is refused by name", "[prefill]") {
  const Words model{"model", "llama-3.1-8b", "gpu", "h100-sxm"};
  for (const Words& wrong : std::vector<Words>{{"prefill_tp", "2"},
                                               {"prefill_servers", "2", "role", "prefill"},
                                               {"prefill_servers", "4", "gpus", "4", "tp", "1"},
                                               {"prefill_servers", "1", "gpus", "5", "tp", "2"}}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(ask(with(model, wrong)), quantity::BadInput);
  }
  CHECK_THROWS_AS(ask(with(model, {"engine", "llama.cpp", "quant", "q4_k_m", "role", "decode"})), quantity::BadInput);
}
