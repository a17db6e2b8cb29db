// The peak of vLLM's profile run by release, and what lies outside PyTorch, against its logs.
#include "catch.hpp"
#include "serving/answer.hpp"
#include "serving/questions.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace llmcalc;

double held(const serving::RankMemory& memory, std::string_view id) {
  double sum = 0;
  for (const auto& holding : memory.holdings) {
    if (holding.id == id) sum += static_cast<double>(quantity::in_bytes(holding.size));
  }
  return sum / 1073741824.0;
}

double held(const std::vector<std::string>& words, std::string_view id) {
  return held(serving::serve(test::served(words)).memory, id);
}

std::vector<std::string> at(const char* release, std::vector<std::string> more) {
  more.insert(more.end(), {"engine", "vllm", "engine_version", release});
  return more;
}

const std::vector<std::string> qwen_on_l40s{"model", "qwen3-14b", "gpu", "l40s"};

}  // namespace

// samilazrak/vllm-optimization-lab results/raw, vLLM 0.29.0: 27.79 GiB consumed of which 27.52 are weights, and a peak
// of 1.48 GiB beyond.
TEST_CASE("compiling reads a copy of the embedding") {
  CHECK(held(at("0.29", qwen_on_l40s), "profile_run") == Approx(1.48).epsilon(0.02));
  const auto cut = at("0.29", {"model", "qwen3-14b", "gpu", "l40s:2", "tp", "2"});
  CHECK(held(at("0.29", qwen_on_l40s), "profile_run") - held(cut, "profile_run") == Approx(1.449 / 2).epsilon(0.01));
}

// vllm config/compilation.py: kernels are joined, and timed, since 0.12, and not in eager mode.
TEST_CASE("nothing is compiled before kernels were joined, nor in eager mode") {
  const auto eager = at("0.29", {"model", "qwen3-14b", "gpu", "l40s", "graphs", "0"});
  CHECK(held(eager, "profile_run") < 0.6);
  CHECK(held(at("0.11", qwen_on_l40s), "profile_run") == Approx(38.5 * 256 * 151'936 / 1073741824.0).epsilon(1e-3));
}

// v1/worker/gpu/sample/penalties.py: 256 rows of 151,936 counts and of 4,748 words of bits, in 32 bits each.
TEST_CASE("the second runner counts the tokens of each sequence") {
  CHECK(held(at("0.29", qwen_on_l40s), "sampler") == Approx(256.0 * (151'936 + 4'748) * 4 / 1073741824.0));
  CHECK(held(at("0.21", qwen_on_l40s), "sampler") == 0.0);
}

// vllm config/vllm.py of these releases, DEFAULT_V2_MODEL_RUNNER_ARCHITECTURES and _is_default_v2_model_runner_model.
TEST_CASE("models come to the second runner a release at a time") {
  struct Run {
    const char* model;
    const char* quant;
    const char* last;  // release in which the first runner has it
    const char* first;
  };
  for (const Run& run : std::vector<Run>{{"qwen3-14b", "bf16", "0.21", "0.22"},
                                         {"llama-3.1-8b", "bf16", "0.22", "0.23"},
                                         {"llama-3.1-8b", "fp8", "0.23", "0.24"},
                                         {"qwen1.5-moe-a2.7b", "bf16", "0.23", "0.24"},
                                         {"qwen2.5-7b", "bf16", "0.24", "0.25"},
                                         {"qwen3-30b-a3b", "bf16", "0.28", "0.29"},
                                         {"qwen3-next-80b-a3b", "fp8", "0.28", "0.29"}}) {
    INFO(run.model);
    const auto sampler = [&](const char* release) {
      return held(at(release, {"model", run.model, "quant", run.quant, "gpu", "h200-sxm"}), "sampler");
    };
    CHECK(sampler(run.last) == 0.0);
    CHECK(sampler(run.first) > 0.0);
  }
}

// v1/worker/gpu/model_runner.py of 0.22 to 0.28, profile_cudagraph_memory: MiniCPM5-1B on an RTX 4090 D under 0.23.0,
// "Available KV cache memory: 11.54 GiB" of 0.6 of it (datawhalechina/self-llm, MiniCPM5-1B).
TEST_CASE("the second runner took graphs out of no cache at first") {
  const std::vector<std::string> words{"model", "minicpm5-1b",     "gpu", "rtx-4090-d", "context",
                                       "4096",  "memory_fraction", "0.6"};
  const auto pool = quantity::in_bytes(serving::serve(test::served(at("0.23", words))).memory.pool);
  CHECK(static_cast<double>(pool) / 1073741824.0 == Approx(11.54).epsilon(0.02));
}

// vLLM 0.11, Mistral-Small-3.2 and Llama-3.1-8B on H100 (llm-d-planner docs/empirical-vllm-memory-results.md) sort
// the logits; v1/sample/ops/topk_topp_triton.py came with 0.17.
TEST_CASE("a sampler without a sort takes less") {
  const std::vector<std::string> eager{"model", "llama-3.1-8b", "gpu", "h100-sxm", "graphs", "0"};
  CHECK(held(at("0.16", eager), "profile_run") == Approx(4.76).epsilon(0.03));
  CHECK(held(at("0.17", eager), "profile_run") < 2.2);
}

// Non-torch memory in logs of vLLM: two H100 over NVLink 0.55 GiB, two L40S over PCIe 0.25.
TEST_CASE("ranks that meet over PCIe hold smaller buffers") {
  const auto outside = [](const char* gpu) {
    const auto words = at("0.10.2", {"model", "qwen3-14b", "gpu", gpu, "tp", "2"});
    return held(words, "non_torch") + held(words, "nccl");
  };
  CHECK(outside("h100-sxm:2") == Approx(0.55).margin(0.01));
  CHECK(outside("l40s:2") == Approx(0.25).margin(0.01));
}

// v1/worker/gpu_worker.py of 0.8.5, determine_available_memory: all that is in use is the engine's own.
TEST_CASE("the first scheduler counts the CUDA context inside its share") {
  const auto room = [](const char* release) {
    return serving::serve(test::served(at(release, qwen_on_l40s))).memory.pool;
  };
  const auto context = quantity::mib(426);
  CHECK(room("0.9") - room("0.8") == context);
  CHECK(room("0.7.3") > room("0.8"));
}

// A preset's usable size that was read from a card is what cudaMemGetInfo calls total: Qwen3-8B under vLLM 0.9.2 on an
// A100 of 40 GB, "Available KV cache memory: 18.69 GiB" (dariustanrd/tokenkaki blogposts/content/1_vllm).
TEST_CASE("the driver's share is not taken twice") {
  const auto words = at("0.9.2", {"model", "qwen3-8b", "gpu", "a100-40-sxm"});
  const auto answer = serving::serve(test::served(words));
  CHECK(static_cast<double>(quantity::in_bytes(answer.memory.pool)) / 1073741824.0 == Approx(18.69).epsilon(0.02));
}
