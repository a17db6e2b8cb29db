// What engines set aside beside weights and cache, against their logs.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "serving/answer.hpp"
#include "serving/forward.hpp"
#include "serving/inner/engines.hpp"
#include "serving/questions.hpp"
#include "serving/weights.hpp"

#include <algorithm>

namespace {

using namespace llmcalc;
using spec::Measure;

double gib(const spec::Question& question, Measure measure) {
  const auto answer = serving::serve(question);
  return *serving::predicted(answer, measure, serving::Scope::one_card) / 1073741824.0;
}

/// llm-d-planner docs/empirical-vllm-memory-results.md, on H100 of 79.18 GiB.
spec::Question on_h100(const char* model, const char* quant, const char* tp) {
  return test::served({"model", model, "quant", quant, "engine_version", "0.11", "gpu", "h100-sxm", "memory",
                       "79.18GiB", "gpus", tp, "tp", tp, "context", "16000", "block", "128"});
}

TEST_CASE("vLLM's log of an 8B and a 70B") {
  const auto small = on_h100("llama-3.1-8b", "bf16", "1");
  CHECK(gib(small, Measure::weights) == Approx(14.99).margin(0.005));
  CHECK(gib(small, Measure::activation_peak) == Approx(4.76).epsilon(0.03));
  CHECK(gib(small, Measure::non_torch) == Approx(0.13).margin(0.005));
  CHECK(gib(small, Measure::kv_cache) == Approx(51.38).epsilon(0.02));
  const auto large = on_h100("llama-3.3-70b", "fp8", "2");
  CHECK(gib(large, Measure::weights) == Approx(33.88).margin(0.005));
  CHECK(gib(large, Measure::activation_peak) == Approx(4.84).epsilon(0.03));
  CHECK(gib(large, Measure::kv_cache) == Approx(32.00).epsilon(0.02));
  CHECK(serving::serve(on_h100("llama-3.3-70b", "fp8", "1")).verdict == trust::VerdictKind::does_not_fit);
}

/// transformers integrations/finegrained_fp8.py, FP8Experts of expert_dtype fp4: two weights a byte and one byte of
/// scale for 32 of a row; Qwen3-30B-A3B has 48 layers of 128 experts of three matrices.
TEST_CASE("experts of a checkpoint in FP8 may rest in four bits") {
  const auto weights = [](const char* quant) {
    const auto question = test::served({"model", "qwen3-30b-a3b", "quant", quant, "gpu", "h100-sxm"});
    const auto rank = serving::rank_question(question);
    return serving::stage_weights(rank, serving::forward_program(rank, {}), 0).whole;
  };
  const auto narrow = weights("fp8-mxfp4");
  constexpr std::int64_t elements = std::int64_t{48} * 128 * 3 * 2048 * 768;
  CHECK(quantity::in_bytes(narrow.experts) == elements / 2 + elements / 32);
  CHECK(narrow.attention == weights("fp8-block").attention);
}

TEST_CASE("without a card what needs none is predicted, and what it is a share of is not") {
  const auto answer = serving::serve(test::served({"model", "llama-3.1-8b"}));
  const auto says = [&](Measure measure) { return serving::predicted(answer, measure, serving::Scope::one_card); };
  CHECK(says(Measure::weights).has_value());
  CHECK(says(Measure::kv_bytes_per_token).has_value());
  for (const auto measure : {Measure::kv_cache, Measure::kv_tokens, Measure::max_context, Measure::max_concurrency,
                             Measure::activation_peak, Measure::device_total}) {
    CHECK_FALSE(says(measure).has_value());
  }
}

TEST_CASE("vLLM before prefills were chunked profiles the whole context") {
  // vllm issue 10517, RTX 3090 of 23.58 GiB: 29,000 tokens do not start, 20,000 do.
  const auto with = [](const char* context) {
    return test::served({"model", "llama-3.1-8b", "engine_version", "2024-12", "gpu", "rtx-3090", "memory", "23.58GiB",
                         "memory_fraction", "0.9", "context", context});
  };
  CHECK(gib(with("20000"), Measure::torch_peak) == Approx(17.06).epsilon(0.002));
  CHECK(gib(with("29000"), Measure::torch_peak) == Approx(17.98).epsilon(0.002));
  CHECK(gib(with("29000"), Measure::kv_cache) == Approx(2.89).epsilon(0.02));
  CHECK(serving::serve(with("20000")).verdict == trust::VerdictKind::fits);
  CHECK(serving::serve(with("29000")).verdict == trust::VerdictKind::does_not_fit);
}

// "PyTorch activation peak memory 1.26GiB" of Meta-Llama-3-8B on one H100 and on two: vllm pull 10511.
TEST_CASE("vLLM's first engine samples for all sequences on each rank when it profiles") {
  const auto peak = [](const char* cards) {
    return gib(
        test::served({"model", "llama-3-8b", "engine_version", "0.6.5", "gpu", "h100-sxm", "gpus", cards, "tp", cards}),
        Measure::activation_peak);
  };
  CHECK(peak("1") == Approx(1.26).epsilon(0.07));
  CHECK(peak("2") == peak("1"));
}

TEST_CASE("releases are read from versions and dates") {
  CHECK(serving::parse_release("v0.11.2") == serving::EngineRelease{0, 11, 2});
  CHECK(serving::parse_release("0.5.9rc1") == serving::EngineRelease{0, 5, 9});
  CHECK(serving::parse_release("2024-12") == serving::EngineRelease{2024, 12});
  CHECK(serving::parse_release("b6895") == serving::EngineRelease{6895, 0});
  CHECK(serving::parse_release("nightly") == serving::EngineRelease{});
}

// vllm config/cache.py: gpu_memory_utilization is 0.92 from 0.20.0 on, 0.9 before.
TEST_CASE("vLLM's share of the accelerator is that of its release") {
  const auto share = [](const std::string& version) {
    const auto question =
        test::served({"model", "llama-3.1-8b", "engine", "vllm", "engine_version", version, "gpu", "h100-sxm"});
    return serving::serve(question).deployment.setup.memory_fraction;
  };
  CHECK(share("0.19.1") == 0.90);
  CHECK(share("0.20.0") == 0.92);
  CHECK(share("0.21") == 0.92);
}

TEST_CASE("an engine that cannot run what is asked for names those that can") {
  const auto refused = [](const std::vector<std::string>& words) {
    try {
      static_cast<void>(serving::serve(test::served(words)));
    } catch (const quantity::BadInput& error) {
      return error.hint();
    }
    return std::string();
  };
  CHECK(refused({"model", "llama-3-8b", "engine", "trtllm", "quant", "q4_k_m"}) ==
        "llama.cpp, ollama can; trtllm runs awq");
  CHECK(refused({"model", "llama-3-8b", "engine", "llama.cpp", "quant", "awq"}) ==
        "vllm, sglang, trtllm, hf can; llama.cpp runs q4_k_m");
  CHECK(refused({"model", "gpt-oss-20b", "engine", "ollama", "quant", "mxfp4"}) ==
        "vllm, sglang, trtllm, hf can; ollama runs mxfp4_moe");
  CHECK(refused({"model", "llama-3-8b", "engine", "llama.cpp", "quant", "fp8"}).ends_with("llama.cpp runs q8_0"));
  CHECK(!refused({"model", "llama-3-8b", "engine", "vllm", "kv_dtype", "q8_0"}).empty());
  for (const char* engine : {"vllm", "sglang", "trtllm"}) {
    CHECK(refused({"model", "llama-3-8b", "engine", engine, "gpu", "apple-m2-ultra"}) == "llama.cpp, ollama, hf can");
  }
  CHECK(refused({"model", "llama-3-8b", "engine", "trtllm", "gpu", "mi300x"}) ==
        "vllm, sglang, llama.cpp, ollama, hf can");
  CHECK(refused({"model", "llama-3-8b", "engine", "sglang", "quant", "nvfp4", "gpu", "mi355x"}) ==
        "vllm, llama.cpp, ollama can");
}

// vllm model_executor/kernels/linear/nvfp4/emulation.py: "Software emulation fallback for NVFP4 (dequant -> BF16
// matmul)".
TEST_CASE("products that a card does not have are said") {
  const auto notes = [](const char* gpu, const char* quant) {
    const auto answer = serving::serve(test::served({"model", "llama-3.1-8b", "gpu", gpu, "quant", quant}));
    return answer.notes;
  };
  CHECK(notes("b200-sxm", "nvfp4").empty());
  CHECK(notes("mi355x", "nvfp4").front() ==
        "mi355x has no products of NVFP4: weights rest in 4 bits and are multiplied in 16");
  CHECK(notes("a100-80", "fp8").size() == 1);
}

TEST_CASE("what an engine would pass over is refused") {
  const auto refused = [](const std::string& term, const std::string& value) {
    return serving::serve(test::served({"model", "qwen3-30b-a3b", "gpu", "h100-sxm", "engine", "vllm", term, value}));
  };
  CHECK_THROWS_AS(refused("gpu_layers", "20"), quantity::BadInput);
  CHECK_THROWS_AS(refused("cpu_experts", "10"), quantity::BadInput);
  // vllm config/parallel.py: ranks of one cache are some of a tensor-parallel group.
  CHECK_THROWS_AS(refused("dcp", "2"), quantity::BadInput);
  for (const char* term : {"tp", "pp", "attention_dp"}) {
    CAPTURE(term);
    CHECK_THROWS_AS(test::served({"model", "llama-3-8b", "engine", "llama.cpp", "gpu", "l40s", "gpus", "2", term, "2"}),
                    quantity::BadInput);
  }
}

TEST_CASE("an engine starts with the share that it is told would do, and not with less") {
  for (const std::string engine : {"vllm", "sglang", "trtllm"}) {
    CAPTURE(engine);
    const auto with = [&](double share) {
      return serving::serve(test::served(
          {"model", "llama-3.1-8b", "gpu", "h100-sxm", "engine", engine, "memory_fraction", std::to_string(share)}));
    };
    const std::string reason = with(0.1).reason;
    const auto at = reason.find("--memory-fraction ");
    REQUIRE(at != std::string::npos);
    const double share = std::stod(reason.substr(at + std::string_view("--memory-fraction ").size()));
    CHECK(with(share).verdict == trust::VerdictKind::fits);
    CHECK(with(share - 0.001).verdict == trust::VerdictKind::does_not_fit);
  }
}

TEST_CASE("what nothing follows from is refused") {
  const auto asked = [](const std::vector<std::string>& more) {
    std::vector<std::string> words{"model", "llama-3.1-8b", "gpu", "h100-sxm"};
    words.insert(words.end(), more.begin(), more.end());
    return test::served(words);
  };
  CHECK_THROWS_AS(asked({"rate", "2", "concurrency", "4"}), quantity::BadInput);
  CHECK_THROWS_AS(asked({"accept", "0.5"}), quantity::BadInput);
  // vllm config/model.py, verify_with_parallel_config: 8 heads on 8 ranks leave no copies to share out.
  CHECK_THROWS_AS(asked({"gpus", "8", "tp", "8", "dcp", "2"}), quantity::BadInput);
  CHECK_NOTHROW(asked({"gpus", "16", "tp", "16", "dcp", "2"}));
}

TEST_CASE("memory that others take stops vLLM before anything is loaded") {
  const auto answer = serving::serve(test::served({"model", "llama-3-8b", "gpu", "a100-80", "other_usage", "20GiB"}));
  CHECK(answer.verdict == trust::VerdictKind::does_not_fit);
  CHECK(answer.reason.starts_with("free memory"));
}

// Ollama docs/context-length.mdx: below 24 GiB of all cards 4k, from there 32k, from 48 GiB 256k, the model's own at
// most.
TEST_CASE("Ollama's context follows the memory of the cards together") {
  const auto context = [](std::vector<std::string> words) {
    words.insert(words.end(), {"engine", "ollama", "quant", "q4_k_m"});
    return serving::serve(test::served(words)).capacity.context;
  };
  CHECK(context({"model", "llama-3.1-8b", "gpu", "rtx-4060-ti-16"}) == 4096);
  CHECK(context({"model", "llama-3.1-8b", "gpu", "rtx-4090"}) == 32'768);
  CHECK(context({"model", "llama-3.1-8b", "gpu", "rtx-3090:2"}) == 131'072);
  CHECK(context({"model", "llama-3-8b", "gpu", "h100-sxm"}) == 8192);
  CHECK(context({"model", "llama-3.1-8b", "gpu", "h100-sxm", "engine_version", "0.12"}) == 4096);
  CHECK(context({"model", "llama-3.1-8b", "gpu", "h100-sxm", "engine_version", "0.5"}) == 2048);
}

// SGLang srt/arg_groups/memory_hook.py, handle_gpu_memory_settings: by the accelerator's memory the tokens of a prefill
// step and the largest batch with a graph, wider from four tensor-parallel ranks on; what they reserve, in MiB, is 512,
// 1.5 a token, 2 a sequence of the largest graph, 128 a rank and 8 a graph of prompts, above 60 GiB 10 GiB at least.
TEST_CASE("SGLang reserves by the accelerator's memory and by ranks") {
  struct Tier {
    std::string memory;
    double gib;
    std::int64_t chunk, narrow, wide;
  };
  for (const auto& tier :
       {Tier{"16GiB", 16, 2048, 8, 8}, Tier{"24GiB", 24, 4096, 48, 160}, Tier{"40GiB", 40, 4096, 32, 160},
        Tier{"79GiB", 79, 8192, 256, 512}, Tier{"141GiB", 141, 8192, 256, 512}, Tier{"180GiB", 180, 16384, 512, 512}}) {
    for (const std::int64_t tp : {1, 2, 4, 8}) {
      CAPTURE(tier.memory, tp);
      const auto ranks = std::to_string(tp);
      const auto setup = serving::sglang_row.setup(test::served(
          {"model", "llama-3.1-8b", "engine", "sglang", "gpu", "h100-sxm:8", "memory", tier.memory, "tp", ranks}));
      const auto graphs = tp < 4 ? tier.narrow : tier.wide;
      CHECK(setup.batched_tokens == tier.chunk);
      CHECK(setup.graph_batch == graphs);
      double reserved = 512 + 1.5 * static_cast<double>(tier.chunk) + 128.0 * static_cast<double>(tp) +
                        2.0 * static_cast<double>(graphs) + 8.0 * 12;
      if (tier.gib > 60) reserved = std::max(reserved, 10240.0);
      CHECK(setup.memory_fraction == Approx(1.0 - reserved / 1024.0 / tier.gib).margin(0.0011));
    }
  }
}

// SGLang srt/models/deepseek_v2.py: DeepseekV2MLP, of dense layers and of shared experts, is parallel over the "tp"
// group, heads of attention over "attn_tp". vLLM's and TensorRT-LLM's copies of the attention hold the MLP whole.
TEST_CASE("SGLang cuts an MLP over all ranks, however many copies of the attention they are") {
  const auto mlp = [](const char* engine, const char* tp, const char* copies, std::string_view part) {
    const auto answer =
        serving::serve(test::served({"model", "deepseek-v3", "quant", "fp8-block", "gpu", "h200-sxm", "gpus", "8",
                                     "engine", engine, "tp", tp, "attention_dp", copies, "context", "4096"}));
    const auto& lines = answer.memory.holdings;
    const auto found = std::ranges::find(lines, part, &serving::MemoryLine::label);
    REQUIRE(found != lines.end());
    return quantity::in_gib(found->size);
  };
  const auto whole = mlp("sglang", "8", "1", "weights: MLP");
  for (const auto& [tp, copies] : {std::pair{"4", "2"}, std::pair{"2", "4"}, std::pair{"1", "8"}}) {
    CAPTURE(tp, copies);
    CHECK(mlp("sglang", tp, copies, "weights: MLP") == Approx(whole).epsilon(0.001));
    CHECK(mlp("vllm", tp, copies, "weights: MLP") > 1.5 * mlp("vllm", "8", "1", "weights: MLP"));
    CHECK(mlp("sglang", tp, copies, "weights: attention") > 1.2 * mlp("sglang", "8", "1", "weights: attention"));
  }
  // 3 dense layers of 18,432 and 58 shared experts of 2,048, three matrices of 7,168 columns each, a byte an element
  // and a scale of four for each 128 x 128 (config.json of deepseek-ai/DeepSeek-V3), on each of 8 ranks.
  constexpr double bytes = 3.0 * 7168 * (3 * 18432 + 58 * 2048) * (1 + 4.0 / (128 * 128)) / 8;
  CHECK(whole == Approx(bytes / (1024.0 * 1024 * 1024)).epsilon(0.01));
}

}  // namespace
