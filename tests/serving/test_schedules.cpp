// How releases of engines, stages and what requests have in common change when a server has answered.
#include "catch.hpp"
#include "serving/answer.hpp"
#include "serving/questions.hpp"
#include "serving/speed.hpp"

#include <string>
#include <vector>

using namespace llmcalc;
using test::served;
using test::with;

namespace {

serving::Speed timed(const std::vector<std::string>& words) {
  const auto speed = serving::speed_of(serving::deploy(served(words)));
  REQUIRE(speed.has_value());
  return *speed;
}

double in_ms(quantity::Seconds time) { return 1e3 * quantity::in_seconds(time); }

}  // namespace

// NIM 1.8.0, whose servers ran what TensorRT had built: a prompt of 200 tokens of Llama 3.1 8B in FP8 on H100 had its
// first token after 10.3 ms (zivbeker42/llm-guesstimator), before PyTorch's host could have launched half of it.
TEST_CASE("what TensorRT built is launched at once", "[speed]") {
  const std::vector<std::string> words{"model", "llama-3.1-8b", "gpu",    "h100-sxm", "quant",
                                       "fp8",   "engine",       "trtllm", "prompt",   "200"};
  CHECK(in_ms(timed(with(words, {"engine-version", "0.17"})).prefill) < 10.3);
  CHECK(in_ms(timed(with(words, {"engine-version", "1.0"})).prefill) == Approx(0.053 * 32 * 13).epsilon(1e-6));
}

// vLLM pulls 49390 and 51726, both first in 0.28, for compute capability 10 and for 160 GiB; config/vllm.py of 0.20 to
// 0.27.1, _set_cudagraph_sizes: two tokens a sequence, as many times more where drafts are judged.
TEST_CASE("vLLM captures larger steps of data center Blackwell since 0.28") {
  const auto setup = [](const std::vector<std::string>& words, const char* gpu = "b200-sxm") {
    return serving::deploy(served(with({"model", "qwen3.5-9b", "engine", "vllm", "gpu", gpu}, words))).setup;
  };
  CHECK(setup({"engine-version", "0.27.1"}).graph_batch == 512);
  CHECK(setup({"engine-version", "0.27.1"}).batched_tokens == 8192);
  CHECK(setup({"engine-version", "0.28"}).graph_batch == 1024);
  CHECK(setup({"engine-version", "0.28"}).batched_tokens == 16384);
  CHECK(setup({"engine-version", "2026-08-11"}).graph_batch == 512);
  CHECK(setup({"engine-version", "0.28"}, "h200-sxm").graph_batch == 512);
  CHECK(setup({"max-seqs", "16"}).graph_batch == 32);
  CHECK(setup({"max-seqs", "16", "draft", "mtp:3"}).graph_batch == 128);
  CHECK(setup({"largest-graph", "2048"}).graph_batch == 2048);
  CHECK(setup({"largest-graph", "2048", "batched-tokens", "1024"}).graph_batch == 1024);
  CHECK(setup({"largest-graph", "2048", "graphs", "0"}).graph_batch == 0);
}

// SemiAnalysisAI/InferenceX kimik2.5_fp4_b200.sh, vLLM 0.17.0: four requests of 1,024 tokens have their first token
// after 170 and 177 ms in March 2026, and after 82 on 20 April, with --max-cudagraph-capture-size 2048 (pull request
// 1047); of 8,192 after 232 and 255, and 238.
TEST_CASE("prompts beyond the largest captured step wait for their launches", "[speed]") {
  const auto first = [](const char* prompt, const char* captured) {
    return in_ms(timed({"model",          "kimi-k2.5", "quant",           "nvfp4", "gpu",           "b200-sxm:4",
                        "engine-version", "0.17.0",    "kv-dtype",        "fp8",   "range-ratio",   "0.8",
                        "output",         "1024",      "prompt",          prompt,  "concurrency",   "4",
                        "engine",         "vllm",      "stream-interval", "20",    "largest-graph", captured})
                     .ttft);
  };
  CHECK(first("1024", "2048") == Approx(82).epsilon(0.1));
  CHECK(first("1024", "512") > 1.3 * first("1024", "2048"));
  CHECK(first("8192", "2048") == Approx(first("8192", "512")).epsilon(0.01));
}

// TensorRT-LLM 1.0, docs/source/performance/perf-overview.md: Llama 3.3 70B in FP4 on one RTX PRO 6000 and on stages of
// several, 3,000 requests at once, with the settings that trtllm-bench makes of them.
TEST_CASE("stages answer nearly as many times more requests", "[speed]") {
  struct Row {
    const char* stages;
    const char* sequences;
    double measured;
  };
  const std::vector<std::string> of_page{
      "model",          "llama-3.3-70b", "quant",    "nvfp4", "gpu",         "rtx-pro-6000-blackwell",
      "engine",         "trtllm",        "kv_dtype", "fp8",   "num_prompts", "3000",
      "prompt",         "1000",          "output",   "1000",  "range_ratio", "1",
      "batched_tokens", "2048"};
  for (const Row& row : {Row{"1", "192", 1787}, Row{"2", "256", 3707}, Row{"4", "256", 5961}}) {
    CAPTURE(row.stages);
    const auto speed = timed(with(of_page, {"gpus", row.stages, "pp", row.stages, "max_seqs", row.sequences}));
    CHECK(1000 * speed.requests_per_s == Approx(row.measured).epsilon(0.15));
  }
}

// sgl-project/sgl-cookbook, Nemotron3-Super.md: 256 requests under SGLang 0.5.9 on four H200 had their first tokens
// after 0.44 s. Later releases track states, which takes two places more, and schedule ahead, which hides 0.6 to 0.7
// ms.
TEST_CASE("SGLang schedules states ahead where it tracks them", "[speed]") {
  const auto at = [](const char* release, const char* requests) {
    return timed({"model", "nemotron-3-super-120b-a12b", "engine", "sglang", "engine-version", release, "gpu",
                  "h200-sxm", "gpus", "4", "tp", "4", "concurrency", requests, "output", "1024"});
  };
  CHECK(at("0.5.9", "256").queued == 0);
  CHECK(quantity::in_seconds(at("0.5.9", "256").ttft) < 1.0);
  CHECK(at("0.5.14", "256").queued > 0);
  CHECK(in_ms(at("0.5.9", "1").decode_step) - in_ms(at("0.5.14", "1").decode_step) == Approx(0.675).epsilon(0.1));
}

// Requests whose prompts are all in common hold their answers alone: 10 a second at 15 s each.
TEST_CASE("what requests have in common takes room once", "[speed]") {
  const auto speed =
      timed({"model", "minicpm-2b", "gpu", "tesla-p4", "gpus", "8", "rate", "10", "shared_prefix", "2048"});
  CHECK(speed.queued == 0);
  CHECK(speed.running == Approx(speed.concurrency));
}
