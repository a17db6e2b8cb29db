#include "catch.hpp"
#include "serving/answer.hpp"
#include "serving/questions.hpp"
#include "serving/speed.hpp"

#include <cmath>
#include <string>
#include <vector>

using namespace llmcalc;
using test::served;
using test::with;

namespace {

serving::Speed speed_of(const std::vector<std::string>& words) {
  const auto speed = serving::speed_of(serving::deploy(served(words)));
  REQUIRE(speed.has_value());
  return *speed;
}

const std::vector<std::string> eight_bit_70b{"model", "llama-3.1-70b", "quant", "fp8", "gpu", "b200-sxm", "gpus", "4"};

double ms(quantity::Seconds time) { return 1e3 * quantity::in_seconds(time); }

/// What a host takes to launch so many operations of each layer.
double launched_ms(double layers, double operations) { return 0.053 * layers * operations; }

}  // namespace

// ai-dynamo/aiconfigurator silicon_sample.csv: one point of each engine and of a mixture, at medium load. The tolerance
// is the published error bar's.
TEST_CASE("times per token lie near the measured ones", "[speed]") {
  struct Row {
    std::vector<std::string> words;
    double measured_ms;
  };
  const std::vector<Row> rows{
      {{"engine", "vllm", "model", "llama-3.1-70b", "quant", "fp8", "gpu", "b200-sxm", "gpus", "4", "tp", "4", "prompt",
        "1024", "output", "1024", "concurrency", "8"},
       8.179},
      {{"engine", "sglang", "model", "qwen3-32b", "gpu", "h100-sxm", "gpus", "4", "tp", "4", "prompt", "1024", "output",
        "256", "concurrency", "16"},
       10.142},
      {{"engine", "trtllm", "model", "llama-3.1-8b", "gpu", "h100-sxm", "prompt", "2048", "output", "256",
        "concurrency", "8"},
       8.386},
      {{"engine", "vllm", "model", "gpt-oss-120b", "quant", "mxfp4", "gpu", "h100-sxm", "gpus", "2", "tp", "2",
        "prompt", "1024", "output", "1024", "concurrency", "64"},
       14.832},
  };
  for (const Row& row : rows) {
    INFO(row.words[1] << ' ' << row.words[3]);
    CHECK(ms(speed_of(row.words).tpot) == Approx(row.measured_ms).epsilon(0.28));
  }
}

// Qwen2.5-Omni-7B's text model on A800: 22 to 23 ms a token without graphs (vllm-omni issue 7960); a 27B in 4 bits on
// RTX 5090: 41.7, 45.0 and 43.9 ms a step of one, four and eight sequences (local-inference-lab/vllm pull 314). One
// rate stands for the hosts of both, which are a third apart.
TEST_CASE("without graphs the host launches kernel by kernel", "[speed]") {
  const auto step = [](const std::vector<std::string>& words) { return ms(speed_of(words).decode_step); };
  const std::vector<std::string> omni{"model", "qwen2.5-7b", "gpu", "a800-80-sxm", "context", "2048", "graphs"};
  CHECK(step(with(omni, {"0"})) == Approx(22.5).epsilon(0.2));
  CHECK(step(with(omni, {"1"})) < 15);
  for (const char* sequences : {"1", "4", "8"}) {
    CAPTURE(sequences);
    CHECK(step({"model", "qwen3-32b", "quant", "awq", "gpu", "rtx-5090", "context", "2048", "graphs", "0",
                "concurrency", sequences}) == Approx(44).epsilon(0.2));
  }
}

// The same pull with graphs: 16.0 ms a step of one sequence, of 27 billion parameters. RTX 3090 has no 8-bit products:
// Marlin reads half the bytes (vllm pull 5975).
TEST_CASE("types that a card does not multiply are read as they rest", "[speed]") {
  const auto step = [](const char* model, const char* quant, const char* gpu) {
    return ms(speed_of({"model", model, "quant", quant, "gpu", gpu, "memory", "60GiB", "context", "2048"}).decode_step);
  };
  CHECK(step("qwen3-32b", "awq", "rtx-5090") == Approx(16.0 * 32.8 / 27).epsilon(0.25));
  CHECK(step("llama-3.1-8b", "fp8", "rtx-3090") < 0.65 * step("llama-3.1-8b", "bf16", "rtx-3090"));
}

// vllm pull 16035: 1.89 and 2.08 tokens a step at 175.49 and 165.65 tokens a second, so 0.9 ms a proposal; without
// drafts 7.77 ms a token.
TEST_CASE("vLLM 0.8 proposed without graphs, and its steps took longer", "[speed]") {
  const std::vector<std::string> llama{"model", "llama-3-8b", "gpu", "h100-sxm", "context", "2048", "engine_version"};
  const auto step = [&](const char* release, const std::vector<std::string>& more) {
    return ms(speed_of(with(with(llama, {release}), more)).decode_step);
  };
  CHECK(step("0.8.4", {}) == Approx(7.77).epsilon(0.05));
  const double proposal = (step("0.8.4", {"draft", "eagle:4"}) - step("0.8.4", {"draft", "eagle:2"})) / 2;
  CHECK(proposal == Approx(0.9).epsilon(0.25));
  CHECK(step("0.9.2", {}) < 7);
}

// geerlingguy/ai-benchmarks README.md (December 2025) and llama.cpp pull 19053 (January 2026).
TEST_CASE("builds of llama.cpp that fuse kernels launch fewer", "[speed]") {
  struct Row {
    const char* model;
    const char* quant;
    const char* gpu;
    double tokens;
  };
  const std::vector<Row> rows{{"llama-3.2-3b", "Q4_K_M", "rtx-4090", 334.67},
                              {"qwen2.5-14b", "Q4_K_M", "rtx-4070-ti", 49.74},
                              {"gpt-oss-20b", "MXFP4_MOE", "rtx-4090", 279.65},
                              {"llama-3.1-8b", "Q4_0", "rtx-6000-ada", 168.87},
                              {"gpt-oss-20b", "MXFP4_MOE", "rtx-pro-6000-blackwell", 352.58}};
  const auto tokens = [](const Row& row, const char* build) {
    return speed_of({"engine", "llama.cpp", "engine_version", build, "model", row.model, "quant", row.quant, "gpu",
                     row.gpu, "context", "4096", "prompt", "0", "output", "128"})
        .tokens_per_s_per_user;
  };
  for (const Row& row : rows) {
    INFO(row.model << ' ' << row.gpu);
    CHECK(tokens(row, "2026-01") == Approx(row.tokens).epsilon(0.07));
    CHECK(tokens(row, "b7340") == tokens(row, "2026-01"));
    CHECK(tokens(row, "b6899") == tokens(row, "2025-10"));
    CHECK(tokens(row, "2025-10") < 0.95 * tokens(row, "2026-01"));
  }
  const Row radeon{"llama-3.1-8b", "Q4_K_M", "rx-7900-xtx", 105.75};
  CHECK(tokens(radeon, "2026-01") == tokens(radeon, "2025-10"));
}

TEST_CASE("a server of llama.cpp draws its tokens on the host, llama-bench draws none", "[speed]") {
  const auto step = [](const char* prompt) {
    return ms(speed_of({"engine", "llama.cpp", "model", "llama-3.2-3b", "quant", "Q4_K_M", "gpu", "rtx-4090", "prompt",
                        prompt, "output", "256"})
                  .decode_step);
  };
  CHECK(step("1") - step("0") == Approx(0.5).epsilon(0.02));
}

// XiongjieDai/GPU-Benchmarks-on-LLM-Inference README.md: 512 tokens generated from an empty cache; 512 of a prompt.
TEST_CASE("llama.cpp's tokens a second lie near the measured ones", "[speed]") {
  struct Row {
    std::string gpu, quant;
    double decode, prefill;
  };
  for (const Row& row : {Row{"rtx-3090", "q4_k_m", 115.42, 4030.4}, Row{"rtx-4090", "f16", 54.84, 9382.0},
                         Row{"a100-80-pcie", "f16", 54.56, 7741.34}}) {
    const std::vector<std::string> words{"engine",     "llama.cpp", "engine_version", "2024-05", "model",
                                         "llama-3-8b", "quant",     row.quant,        "gpu",     row.gpu};
    const auto answer = speed_of(with(words, {"prompt", "0", "output", "512"}));
    INFO(row.gpu);
    CHECK(answer.tokens_per_s_per_user == Approx(row.decode).epsilon(0.10));
    const auto prompt = speed_of(with(words, {"prompt", "512", "output", "1"}));
    CHECK(512 / quantity::in_seconds(prompt.prefill) == Approx(row.prefill).epsilon(0.20));
  }
}

// Of models that no constant but these was fitted to: pavlokhmel.com/llm_throughput_benchmark_on_13_gpus_and_10_models
// and ggml-org/llama.cpp benches/dgx-spark.md (tg32 @ d32768).
TEST_CASE("llama.cpp's tokens a second follow from layers, experts and what a card unpacks", "[speed]") {
  struct Row {
    std::string gpu, model, quant, prompt;
    double decode;
  };
  for (const Row& row : {Row{"h100-sxm", "qwen3.6-27b", "q4_k_m", "0", 74},
                         {"h200-sxm", "qwen3.6-27b", "q4_k_m", "0", 76},
                         {"a100-40-pcie", "qwen3.5-4b", "q4_k_m", "0", 145},
                         {"b300-sxm", "gpt-oss-20b", "q4_k_m", "0", 327},
                         {"dgx-spark-gb10", "gpt-oss-120b", "mxfp4_moe", "32768", 41.35},
                         {"dgx-spark-gb10", "qwen2.5-7b", "q8_0", "32768", 22.7}}) {
    INFO(row.gpu << " " << row.model);
    const auto answer = speed_of({"engine", "llama.cpp", "model", row.model, "quant", row.quant, "gpu", row.gpu,
                                  "prompt", row.prompt, "output", "512"});
    CHECK(answer.tokens_per_s_per_user == Approx(row.decode).epsilon(0.12));
  }
}

// ai-dynamo/aiconfigurator silicon_sample.csv, TTFT + 128 x TPOT of 128 requests at once: by Little's law the time of a
// cycle, in which each prompt is worked on once, whatever the order in which an engine takes them up.
TEST_CASE("a cycle of a closed loop takes its steps and each request's prompt once", "[speed]") {
  struct Row {
    std::vector<std::string> words;
    double measured_s;
  };
  const std::vector<Row> rows{
      {{"engine", "vllm", "model", "qwen3-32b", "gpus", "2", "tp", "2", "prompt", "1024"}, 10.965},
      {{"engine", "vllm", "model", "qwen3-32b", "gpus", "8", "tp", "8", "prompt", "4096"}, 13.602},
      {{"engine", "sglang", "model", "qwen3-32b", "gpus", "2", "tp", "2", "prompt", "1024"}, 10.565},
      {{"engine", "sglang", "model", "qwen3-32b", "gpus", "8", "tp", "8", "prompt", "4096"}, 13.400},
      {{"engine", "trtllm", "model", "llama-3.1-8b", "prompt", "2048"}, 8.527},
  };
  for (const Row& row : rows) {
    INFO(row.words[1] << ' ' << row.words[3]);
    const auto speed = speed_of(with(row.words, {"gpu", "h100-sxm", "output", "128", "concurrency", "128"}));
    CHECK(quantity::in_seconds(speed.request) == Approx(row.measured_s).epsilon(0.1));
    CHECK(quantity::in_seconds(speed.ttft + speed.tpot * 128.0) == Approx(quantity::in_seconds(speed.request)));
  }
}

TEST_CASE("more requests at once take longer each and give no fewer tokens together", "[speed]") {
  for (const char* engine : {"vllm", "sglang", "trtllm"}) {
    double tpot = 0.0;
    double throughput = 0.0;
    for (const char* concurrency : {"1", "2", "8", "32", "128"}) {
      const auto speed = speed_of(with(eight_bit_70b, {"engine", engine, "tp", "4", "concurrency", concurrency}));
      CHECK(ms(speed.tpot) >= tpot);
      CHECK(speed.tokens_per_s >= throughput);
      tpot = ms(speed.tpot);
      throughput = speed.tokens_per_s;
    }
  }
}

// Little's law: requests in flight are their rate times the time that one takes.
TEST_CASE("a rate leads to the concurrency at which requests leave as fast as they come", "[speed]") {
  const auto speed = speed_of(with(eight_bit_70b, {"tp", "4", "rate", "5"}));
  CHECK(speed.concurrency == Approx(5 * quantity::in_seconds(speed.request)).epsilon(0.02));
  CHECK(speed.requests_per_s == Approx(5).epsilon(0.02));
  CHECK_FALSE(speed.saturated);
}

TEST_CASE("a rate that is never answered leaves a queue without end, and all else as it is", "[speed]") {
  const auto speed = speed_of(with(eight_bit_70b, {"tp", "4", "rate", "500"}));
  CHECK(speed.saturated);
  CHECK(std::isinf(quantity::in_seconds(speed.ttft)));
  CHECK(std::isinf(speed.queued));
  const auto full = speed_of(with(eight_bit_70b, {"tp", "4", "concurrency", "100000"}));
  CHECK(speed.requests_per_s == Approx(full.requests_per_s).epsilon(0.01));
  CHECK(quantity::in_seconds(speed.tpot) == Approx(quantity::in_seconds(full.tpot)).epsilon(0.01));
}

TEST_CASE("what finds no room in the cache waits for the first token, not for the others", "[speed]") {
  const std::vector<std::string> words{"model", "llama-3-8b", "gpu", "rtx-4090", "prompt", "4096", "output", "512"};
  const auto few = speed_of(with(words, {"concurrency", "8"}));
  const auto many = speed_of(with(words, {"concurrency", "256"}));
  CHECK(few.queued == 0.0);
  CHECK(many.queued > 0.0);
  CHECK(many.admission > few.ttft);
  CHECK(many.ttft > many.admission);
  CHECK(many.running + many.queued == Approx(256));
}

// ai-dynamo/aiconfigurator silicon_sample.csv, rows s1424, s1532, s1592 and s1610: what TensorRT-LLM lets wait until
// the whole answer of a request has room, where the part that is written in the mean would have let all 128 in.
TEST_CASE("TensorRT-LLM admits a request where all of its answer will have room", "[speed]") {
  struct Row {
    const char* quant;
    const char* prompt;
    const char* output;
    double measured_s;
  };
  const std::vector<Row> rows{{"fp8", "1024", "8192", 136.6},
                              {"nvfp4", "1024", "8192", 67.2},
                              {"nvfp4", "8192", "1024", 22.8},
                              {"fp8", "8192", "1024", 47.1}};
  for (const Row& row : rows) {
    INFO(row.quant << ' ' << row.prompt);
    const std::vector<std::string> words{
        "engine",  "trtllm", "model",    "llama-3.1-70b", "gpu",      "b200-sxm",    "kv_dtype", "fp8",         "quant",
        row.quant, "prompt", row.prompt, "output",        row.output, "range_ratio", "0.8",      "concurrency", "128"};
    const auto speed = speed_of(words);
    CHECK(quantity::in_seconds(speed.ttft) == Approx(row.measured_s).epsilon(0.2));
  }
}

// ai-dynamo/aiconfigurator silicon_sample.csv, Qwen3 32B at 32 requests at once: under SGLang each waits for half of
// all prompts, which its rule of prompts first keeps for ever where all lengths are equal; under vLLM, whose rows have
// the same lengths, for few, so that they are not in step there.
TEST_CASE("requests that are all equal stay in step where prompts are read first, others part", "[speed]") {
  const auto of = [](const char* engine, const std::vector<std::string>& more) {
    return speed_of(with({"engine", engine, "model", "qwen3-32b", "gpu", "h100-sxm:2", "tp", "2", "prompt", "1024",
                          "output", "256", "concurrency", "32"},
                         more));
  };
  const auto equal = of("sglang", {"range_ratio", "1"});
  const auto apart = of("sglang", {});
  const auto drawn = of("sglang", {"range_ratio", "0.8"});
  CHECK(quantity::in_seconds(equal.ttft) > 0.4 * 32 * quantity::in_seconds(equal.prefill));
  CHECK(ms(apart.ttft) < 0.6 * ms(equal.ttft));
  CHECK(apart.tpot > equal.tpot);
  CHECK(ms(drawn.ttft) == Approx(ms(apart.ttft)).epsilon(0.25));  // with prompts of nine tenths in the mean
  CHECK(ms(of("vllm", {}).ttft) < 0.3 * 32 * ms(of("vllm", {}).prefill));
}

// The mean of requests of one client is what each takes: its way, its prompt, and one token a step behind the first.
TEST_CASE("a lone client waits for nothing but its own request", "[speed]") {
  for (const char* engine : {"vllm", "sglang", "trtllm"}) {
    const auto speed =
        speed_of(with(eight_bit_70b, {"engine", engine, "tp", "4", "prompt", "4000", "concurrency", "1"}));
    CAPTURE(engine);
    CHECK(ms(speed.tpot) == Approx(ms(speed.decode_step)).epsilon(0.01));
    CHECK(ms(speed.ttft) > ms(speed.prefill));
    CHECK(ms(speed.ttft) < ms(speed.prefill) + 250);
  }
}

// The same constant as of decoding without graphs, which is measured there: no graph is of prompts, but vLLM's of up to
// 512 tokens, and SGLang's of a chunk since 0.5.10.
TEST_CASE("the host launches the kernels of a prompt one by one", "[speed]") {
  const auto prefill = [](const char* engine, const char* prompt) {
    return ms(speed_of({"model", "llama-3.1-8b", "gpu", "h100-sxm", "engine", engine, "prompt", prompt}).prefill);
  };
  CHECK(prefill("trtllm", "100") == Approx(launched_ms(32, 13)).epsilon(1e-6));
  CHECK(prefill("sglang", "200") < 0.5 * prefill("trtllm", "200"));
  CHECK(prefill("vllm", "100") < 0.5 * prefill("trtllm", "100"));
  CHECK(prefill("vllm", "8000") == Approx(prefill("trtllm", "8000")).epsilon(0.05));  // each by its own kernels
}

// Norms of queries and keys, the router, its choice, what sorts and gathers rows and puts them together again are
// launches beside a dense layer's; so is what scales the inputs of four products, but in TensorRT-LLM's operators.
TEST_CASE("a mixture's prompt has more to launch", "[speed]") {
  const auto prefill = [](const char* engine, const char* quant) {
    const std::vector<std::string> words{"model", "qwen3-30b-a3b", "gpu",  "h100-sxm", "gpus", "2",      "tp",
                                         "2",     "engine",        engine, "quant",    quant,  "prompt", "600"};
    return ms(speed_of(words).prefill);
  };
  CHECK(prefill("trtllm", "bf16") == Approx(launched_ms(48, 21)).epsilon(1e-6));
  CHECK(prefill("vllm", "bf16") == Approx(launched_ms(48, 21)).epsilon(1e-6));
  CHECK(prefill("trtllm", "fp8-block") == Approx(launched_ms(48, 21)).epsilon(1e-6));
  CHECK(prefill("vllm", "fp8-block") == Approx(launched_ms(48, 21 + 4)).epsilon(1e-6));
}

// SGLang docs/advanced_features/piecewise_cuda_graph.md: by default since 0.5.10, and where it is switched off.
TEST_CASE("SGLang replays graphs of prompts where nothing forbids them", "[speed]") {
  const auto prefill = [](const std::vector<std::string>& words) {
    return ms(speed_of(with({"engine", "sglang", "model", "llama-3.1-8b", "prompt", "200"}, words)).prefill);
  };
  const std::vector<std::string> llama{"gpu", "h100-sxm"};
  const double launched = launched_ms(32, 13);
  CHECK(prefill(llama) < 0.5 * launched);
  CHECK(prefill(with(llama, {"engine-version", "0.5.10"})) == prefill(llama));
  const std::vector<std::vector<std::string>> forbidding{
      {"engine-version", "0.5.9"}, {"draft", "eagle"}, {"max-loras", "1"},
      {"gpus", "2", "pp", "2"},    {"graphs", "0"},    {"gpus", "2", "attention-dp", "2"}};
  for (const auto& words : forbidding) {
    INFO(words[0] << ' ' << words[1]);
    CHECK(prefill(with(llama, words)) >= 0.99 * launched);
  }
  CHECK(prefill({"gpu", "mi300x"}) >= 0.99 * launched);
}

// A decoding step cannot be shorter than reading the weights once at the data sheet's bandwidth: 8.03e9 parameters in 2
// bytes at 3.35 TB/s, less the token table (Llama-3.1-8B, 128256 x 4096).
TEST_CASE("no step is faster than memory", "[speed]") {
  const auto speed = speed_of({"model", "llama-3.1-8b", "gpu", "h100-sxm", "concurrency", "1"});
  const double least = (8.03e9 - 128256.0 * 4096) * 2 / 3.35e12;
  CHECK(quantity::in_seconds(speed.decode_step) > least);
  CHECK(quantity::in_seconds(speed.decode_step) < 2 * least);
}

TEST_CASE("drafts that are accepted shorten the time of a token, and cost where they are not", "[speed]") {
  const auto plain = speed_of(with(eight_bit_70b, {"tp", "4"}));
  const auto drafted = speed_of(with(eight_bit_70b, {"tp", "4", "draft", "eagle", "accept", "0.8"}));
  const auto refused = speed_of(with(eight_bit_70b, {"tp", "4", "draft", "eagle", "accept", "0.01"}));
  CHECK(drafted.tpot < plain.tpot);
  CHECK(refused.tpot >= plain.tpot);
}

TEST_CASE("the price of a million tokens is that of the hours that they take", "[speed]") {
  const auto speed =
      speed_of(with(eight_bit_70b, {"tp", "4", "price", "5", "concurrency", "32", "prompt", "1024", "output", "1024"}));
  const double hours = 1e6 / speed.tokens_per_s / 3600;
  REQUIRE(speed.cost.all.has_value());
  CHECK(quantity::in_dollars(*speed.cost.all) == Approx(4 * 5 * hours));
  const double together = quantity::in_dollars(*speed.cost.output) + quantity::in_dollars(*speed.cost.input);
  CHECK(together == Approx(quantity::in_dollars(*speed.cost.all)));
}

// A ring over two machines sends each all-reduced tensor once over the network, and a layer has two of them: of 126
// layers, 4,096 tokens and a hidden size of 16,384 in 2 bytes (Llama 3.1 405B) that is 33.8 GB of a prompt.
TEST_CASE("ranks on several machines wait for the network", "[speed]") {
  const auto at = [](const std::vector<std::string>& more) {
    return speed_of(with({"model", "llama-3.1-405b", "quant", "fp8", "gpu", "h100-sxm", "prompt", "4096", "output",
                          "256", "gpus", "16", "nodes", "2"},
                         more));
  };
  const auto over = [&](const char* gigabits) { return at({"tp", "16", "inter_node_gbps", gigabits}); };
  const double sent = 2 * 126 * 4096.0 * 16384 * 2;
  for (const double gigabits : {100.0, 400.0, 3200.0}) {
    const auto speed = over(std::to_string(static_cast<int>(gigabits)).c_str());
    CHECK(quantity::in_seconds(speed.prefill) > sent / (gigabits / 8 * 1e9));
  }
  CHECK(over("100").prefill > over("400").prefill);
  const auto staged = at({"tp", "8", "pp", "2", "inter_node_gbps", "100"});
  CHECK(staged.prefill > at({"tp", "8", "pp", "2", "inter_node_gbps", "3200"}).prefill);
  CHECK(staged.prefill < over("100").prefill);
}

TEST_CASE("copies with as many more requests answer for the same money", "[speed]") {
  for (const std::string engine : {"vllm", "sglang", "trtllm"}) {
    const auto cost = [&](int copies) {
      const auto answer = serving::serve(test::served(
          {"model", "llama-3.1-8b", "engine", engine, "gpu", "h100-sxm", "gpus", std::to_string(copies), "tp", "1",
           "context", "4096", "prompt", "2000", "output", "200", "concurrency", std::to_string(16 * copies)}));
      REQUIRE(answer.speed.has_value());
      return answer.speed->cost;
    };
    const auto one = cost(1);
    for (const int copies : {2, 4, 8}) {
      CAPTURE(engine, copies);
      const auto more = cost(copies);
      for (const auto figure : {&serving::TokenCost::input, &serving::TokenCost::output, &serving::TokenCost::all})
        CHECK(quantity::in_dollars(*(more.*figure)) == Approx(quantity::in_dollars(*(one.*figure))));
    }
  }
}
