// How requests come: lengths that are drawn, servers that let them wait, prefixes that are kept.
#include "catch.hpp"
#include "serving/answer.hpp"
#include "serving/questions.hpp"
#include "serving/speed.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace llmcalc;
using quantity::in_seconds;
using test::served;

serving::Speed speed_of(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return serving::speed_of(serving::deploy(served(words))).value();
}

const std::vector<std::string> qwen{"model",  "qwen3-32b", "gpu",    "h100-sxm:4", "prompt",      "1024",
                                    "output", "1024",      "engine", "sglang",     "concurrency", "32"};

}  // namespace

// SemiAnalysisAI/InferenceX utils/bench_serving/benchmark_serving.py, sample_uniform: from 0.8 of the length to all.
TEST_CASE("drawn lengths are as long as their mean") {
  const auto drawn = speed_of(qwen, {"range_ratio", "0.8"});
  CHECK(drawn.tokens_per_s == Approx(drawn.requests_per_s * 0.9 * 1024));
  CHECK(drawn.prompt_tokens_per_s == Approx(drawn.requests_per_s * 0.9 * 1024));
}

// Text that consecutive tokens of the vocabulary make, as InferenceX sends it, is cut in 9 to 10 us a token, English in
// 1.8 (tokenizers 0.23, DeepSeek-V3's vocabulary). NVIDIA NIM 1.8 answers 200 and 1,000 tokens of sentences after 10.3
// and 19.0 ms (zivbeker42/llm-guesstimator: Llama 3.1 8B in FP8 on an H100, one request at a time).
TEST_CASE("sentences are cut into tokens faster than what is drawn by chance") {
  const auto first = [](const char* natural, const char* prompt) {
    const std::vector<std::string> llama{"model",  "llama-3.1-8b", "quant",          "fp8", "gpu", "h100-sxm",
                                         "engine", "trtllm",       "engine-version", "0.17"};
    return in_seconds(speed_of(llama, {"natural_text", natural, "prompt", prompt, "output", "200"}).ttft);
  };
  CHECK(first("0", "8000") - first("1", "8000") == Approx(8000 * (10e-6 - 1.8e-6)).epsilon(0.15));
  CHECK(first("1", "200") == Approx(0.0103).epsilon(0.25));
  CHECK(first("1", "1000") == Approx(0.0190).epsilon(0.25));
}

TEST_CASE("a step of tokens is that of sequences half way through their answers") {
  for (const char* engine : {"vllm", "sglang", "trtllm", "llama.cpp"}) {
    CAPTURE(engine);
    const auto step = [&](const char* prompt, const char* output) {
      return in_seconds(speed_of({"model", "llama-3.1-8b", "gpu", "h100-sxm", "concurrency", "8", "engine", engine},
                                 {"prompt", prompt, "output", output, "context", "40000"})
                            .decode_step);
    };
    CHECK(step("1024", "8192") == Approx(step("5119", "2")).epsilon(1e-3));
    CHECK(step("1024", "8192") > 1.02 * step("1024", "2"));
  }
}

TEST_CASE("a trace comes at the rate of the gaps between its requests") {
  auto question = served(qwen);
  auto requests = std::make_shared<std::vector<spec::Request>>();
  for (int i = 0; i < 21; ++i) requests->push_back({0.5 * i, 1024, 16});
  question.serving.load.trace = requests;
  CHECK(serving::speed_of(serving::deploy(question))->requests_per_s == Approx(2.0));
}

// vllm bench serve --num-prompts, with and without --max-concurrency.
TEST_CASE("a load of so many requests ends with its last answer") {
  const auto of = [](const char* prompts) { return speed_of(qwen, {"range_ratio", "1", "num_prompts", prompts}); };
  const auto burst = of("32");
  CHECK(burst.tokens_per_s == Approx(burst.requests_per_s * 1024));
  CHECK(32 / burst.requests_per_s == Approx(in_seconds(burst.request)).epsilon(0.01));
  CHECK(of("3200").tokens_per_s == Approx(speed_of(qwen, {"range_ratio", "1"}).tokens_per_s).epsilon(0.02));
  const auto uneven = speed_of(qwen, {"range_ratio", "0.1", "num_prompts", "32"});
  CHECK(uneven.tokens_per_s < 0.8 * speed_of(qwen, {"range_ratio", "0.1"}).tokens_per_s);
}

// tensorrt_llm batch_wait_timeout_iters; sglang/srt/managers/scheduler_recv_skipper.py, which looks every 29 steps at
// what came among those of others, half of them later in the mean, and at once where it has nothing else to do.
TEST_CASE("a request that is let wait starts as many steps later") {
  const auto of = [&](const char* engine, const char* others, const char* steps) {
    return speed_of({"model", "qwen3-32b", "gpu", "h100-sxm:4", "prompt", "1024", "output", "1024"},
                    {"engine", engine, "wait_steps", steps, "concurrency", others});
  };
  for (const auto& [engine, others, waited] :
       {std::tuple{"trtllm", "1", 14.5}, {"sglang", "8", 14.5}, {"sglang", "1", 0.0}}) {
    const auto at_once = of(engine, others, "0");
    const double later = in_seconds(of(engine, others, "14.5").ttft - at_once.ttft);
    CHECK(later == Approx(waited * in_seconds(at_once.decode_step)).epsilon(0.05));
  }
}

// SemiAnalysisAI/InferenceX minimaxm2.5_fp8_b200.sh with --stream-interval 20, runs of 3 to 22 April 2026: 0.397 to
// 0.407 s of 256 requests on four accelerators, 0.778 to 0.823 of 512.
TEST_CASE("a server that sends tokens together has its hands free for the next request") {
  for (const auto& [requests, measured] : {std::pair{"256", 0.398}, {"512", 0.82}}) {
    const auto first = [&, at_once = requests](const char* interval) {
      return in_seconds(speed_of({"model",
                                  "minimax-m2.5",
                                  "quant",
                                  "fp8-block",
                                  "gpu",
                                  "b200-sxm:4",
                                  "kv_dtype",
                                  "fp8",
                                  "engine_version",
                                  "0.19.0",
                                  "memory_fraction",
                                  "0.9",
                                  "batched_tokens",
                                  "2048",
                                  "largest_graph",
                                  "2048",
                                  "prompt",
                                  "1024",
                                  "output",
                                  "1024",
                                  "range_ratio",
                                  "0.8"},
                                 {"concurrency", at_once, "stream_interval", interval})
                            .ttft);
    };
    CHECK(first("20") == Approx(measured).epsilon(0.09));
    CHECK(first("1") > 1.2 * first("20"));
  }
}

// sglang/srt/mem_cache/kv_cache_configurator.py, _calculate_mamba_ratio: five states a request, or one without
// prefixes.
TEST_CASE("SGLang runs five times as many recurrent requests where it keeps no prefixes") {
  const auto seats = [](const char* keeps) {
    const auto answer = serving::serve(
        served({"engine", "sglang", "model", "qwen3.6-35b-a3b", "gpu", "h100-sxm:2", "prefix_cache", keeps}));
    return answer.memory.seats.value();
  };
  CHECK(seats("1") == seats("0") / 5);
}

// vLLM v1/core/sched/scheduler.py: no request is scheduled while max_num_seqs of them run.
TEST_CASE("requests beyond the engine's seats wait, and only they") {
  const auto note = [](const char* concurrency) {
    const auto answer = serving::serve(served(
        {"model", "llama-3-8b", "gpu", "h100-sxm", "context", "1024", "max_seqs", "16", "concurrency", concurrency}));
    const auto says = [](const std::string& words) { return words.find("16 sequences at most") != std::string::npos; };
    return std::ranges::any_of(answer.notes, says);
  };
  CHECK_FALSE(note("16"));
  CHECK(note("17"));
}
