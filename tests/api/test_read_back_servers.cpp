// The command that the program prints for a server, read back with --from, asks for the same server.
#include "api/asked.hpp"
#include "catch.hpp"
#include "dialects/reading.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/resolve.hpp"
#include "read/vocabulary.hpp"
#include "serving/engine.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace llmcalc;

namespace {

using Words = std::vector<read::Given>;

Words given(const std::vector<std::string>& pairs) {
  Words words;
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    words.push_back({pairs[i], pairs[i + 1], {read::Source::flag, "--" + std::string(read::option_name(pairs[i]))}});
  }
  return words;
}

spec::Serving resolved(const Words& words) {
  return read::resolve_serving(words, std::nullopt, read::Catalogue()).question.serving;
}

}  // namespace

namespace {

/// Options that not every engine has, each with a value that is no engine's default.
struct EngineOption {
  std::string term;
  std::string value;
  std::vector<std::string> beside = {};  ///< what it needs to mean something
};

const std::vector<EngineOption> engine_options{
    {"memory_fraction", "0.7"},
    {"kv_bytes", "4GiB"},
    {"batched_tokens", "256"},
    {"max_seqs", "7"},
    {"block", "64"},
    {"graphs", "0"},
    {"largest_graph", "64"},
    {"ubatch", "256"},
    {"slots", "3"},
    {"gpu_layers", "9"},
    {"cpu_experts", "3"},
    {"flash", "0"},
    {"prefix_cache", "0"},
    {"wait_steps", "4"},
    {"stream_interval", "20"},
    {"draft", "mtp:2", {"model", "qwen3.5-9b"}},
    {"max_loras", "3"},
    {"split", "row"},
    {"shared_prefix", "1024"},
    {"attention_dp", "2"},
    {"dcp", "2", {"gpu", "h200-sxm:16", "tp", "16"}},
    {"imatrix", "0", {"model", "llama-3.1-8b", "quant", "iq4_xs"}},
    {"group_size", "64", {"quant", "awq"}},
};

/// A question with words of its own in place of the usual ones.
Words asked_of(std::string_view engine, const std::vector<std::string>& own) {
  std::vector<std::string> all{"engine", std::string(engine)};
  const std::vector<std::string> usual{"model",   "gpt-oss-120b", "gpu",         "h200-sxm:2",
                                       "context", "8k",           "concurrency", "4"};
  for (std::size_t i = 0; i < usual.size(); i += 2) {
    const bool replaced = std::ranges::find(own, usual[i]) != own.end();
    if (!replaced) all.insert(all.end(), {usual[i], usual[i + 1]});
  }
  all.insert(all.end(), own.begin(), own.end());
  return given(all);
}

/// What an answer says of memory, speed and start.
std::string told(const Words& words) {
  auto report = api::serve(words, std::nullopt, read::Catalogue(), {});
  report.question.clear();
  return to_json(report);
}

}  // namespace

TEST_CASE("every engine heeds an option or refuses it by name") {
  for (const auto& row : serving::all_engines()) {
    const std::string engine(spec::name_of(row.engine));
    for (const auto& [term, value, beside] : engine_options) {
      CAPTURE(engine, term);
      auto said = beside;
      said.insert(said.end(), {term, value});
      try {
        const std::string changed = told(asked_of(engine, said));
        CHECK(changed != told(asked_of(engine, beside)));
      } catch (const quantity::BadInput& refusal) {
        CHECK(refusal.place() == "--" + read::option_name(term));
        CHECK(std::string(refusal.what()).find(engine) != std::string::npos);
      }
    }
  }
}

TEST_CASE("the command starts the model that was asked for, from where it is") {
  struct Asked {
    std::string model;
    std::string engine;
    std::string printed;
    std::string quant = {};
  };
  for (const Asked& each : std::vector<Asked>{
           {"deepseek-ai/DeepSeek-R1", "vllm", "vllm serve deepseek-ai/DeepSeek-R1 "},
           {"deepseek-ai/DeepSeek-R1", "sglang", "--model-path deepseek-ai/DeepSeek-R1 "},
           {"meta-llama/Llama-3.1-8B-Instruct", "vllm", "vllm serve meta-llama/Llama-3.1-8B-Instruct "},
           {"meta-llama/Llama-3.1-8B-Instruct", "trtllm", "trtllm-serve meta-llama/Llama-3.1-8B-Instruct "},
           {"Qwen/Qwen2.5-72B-Instruct-AWQ", "vllm", "vllm serve Qwen/Qwen2.5-72B-Instruct-AWQ "},
           {"llama-3.1-8b", "vllm", "vllm serve meta-llama/Llama-3.1-8B "},
           {"llama3.1:8b", "vllm", "vllm serve meta-llama/Llama-3.1-8B "},
           {"llama3.1:8b", "ollama", "ollama run llama3.1:8b"},
           {"llama3.1:8b", "ollama", "FROM ./Llama-3.1-8B-Q8_0.gguf", "q8_0"},
           {"llama-3.1-8b", "ollama", "FROM ./Llama-3.1-8B-Q4_K_M.gguf"},
           {"llama-3.1-8b", "llama.cpp", "-m Llama-3.1-8B-Q4_K_M.gguf "},
           {"bartowski/Meta-Llama-3.1-8B-Instruct-GGUF", "llama.cpp",
            "-hf bartowski/Meta-Llama-3.1-8B-Instruct-GGUF:Q6_K ", "q6_k"},
           {"bartowski/Meta-Llama-3.1-8B-Instruct-GGUF:Q5_K_M", "llama.cpp",
            "-hf bartowski/Meta-Llama-3.1-8B-Instruct-GGUF:Q5_K_M "},
           {"bartowski/Meta-Llama-3.1-8B-Instruct-GGUF:Q5_K_M", "ollama",
            "ollama run hf.co/bartowski/Meta-Llama-3.1-8B-Instruct-GGUF:Q5_K_M"},
       }) {
    auto words = given({"model", each.model, "engine", each.engine, "gpu", "h200-sxm:8"});
    if (!each.quant.empty()) words.push_back({"quant", each.quant, {read::Source::flag, "--quant"}});
    const auto report = api::serve(words, std::nullopt, read::Catalogue(), {});
    std::string line = report.launch;  // over several lines
    std::erase(line, '\\');
    std::erase(line, '\n');
    CAPTURE(each.model, each.engine, line);
    CHECK(line.find(each.printed) != std::string::npos);
  }
}

TEST_CASE("what proposes tokens ahead is told to the engine that has it") {
  const auto command = [](const std::vector<std::string>& asked) {
    return api::serve(given(asked), std::nullopt, read::Catalogue(), {}).launch;
  };
  CHECK(command({"model", "deepseek-v3", "engine", "llama.cpp", "draft", "mtp:2", "gpu", "b200:8"})
            .find("--spec-type draft-mtp") != std::string::npos);
  const std::string instruct = "meta-llama/Llama-3.1-8B-Instruct";
  CHECK(command({"model", instruct, "engine", "vllm", "draft", "eagle:3", "gpu", "h100"})
            .find("--speculative-config.model yuhuili/EAGLE3-LLaMA3.1-Instruct-8B") != std::string::npos);
  CHECK(command({"model", instruct, "engine", "vllm", "draft", "eagle=me/mine:3", "gpu", "h100"})
            .find("--speculative-config.model me/mine") != std::string::npos);
  CHECK(command({"model", "mistral-7b-v0.3", "engine", "vllm", "draft", "eagle:3", "gpu", "h100"}).empty());
  CHECK(command({"model", "llama-3.1-8b", "engine", "sglang", "max_loras", "2", "gpu", "h100"})
            .find("--max-lora-rank 16 --lora-target-modules all") != std::string::npos);
}

/// sglang python/sglang/srt/server_args.py: of one branch (speculative_eagle_topk 1) "speculative_num_draft_tokens is
/// adjusted to speculative_num_steps + 1", the token that the model itself adds.
TEST_CASE("SGLang verifies one token more than its drafter takes steps") {
  for (const std::string drafter : {"mtp", "eagle=me/mine", "llama-3.2-1b"}) {
    for (const int steps : {1, 2, 4, 7}) {
      const std::string model = drafter == "mtp" ? "deepseek-v3" : "llama-3.1-8b";
      const auto draft = drafter + ':' + std::to_string(steps);
      const auto asked = given({"model", model, "engine", "sglang", "draft", draft, "gpu", "b200:8"});
      const auto launch = api::serve(asked, std::nullopt, read::Catalogue(), {}).launch;
      CAPTURE(launch);
      CHECK(launch.find("--speculative-num-steps " + std::to_string(steps)) != std::string::npos);
      CHECK(launch.find("--speculative-eagle-topk 1") != std::string::npos);
      CHECK(launch.find("--speculative-num-draft-tokens " + std::to_string(steps + 1)) != std::string::npos);
    }
  }
}

/// llama.cpp src/llama-context.cpp, llama_init_from_model: "V cache quantization requires flash_attn".
TEST_CASE("a cache of fewer bits needs flash attention under llama.cpp") {
  CHECK_THROWS_AS(resolved(given({"model", "llama-3.1-8b", "engine", "llama.cpp", "kv_dtype", "q8_0", "flash", "0"})),
                  quantity::BadInput);
  CHECK_NOTHROW(resolved(given({"model", "llama-3.1-8b", "engine", "llama.cpp", "kv_dtype", "fp16", "flash", "0"})));
}

TEST_CASE("copies with spread experts are as many servers to start") {
  const auto report =
      api::serve(given({"model", "deepseek-v3", "gpu", "h200-sxm:16", "tp", "8", "ep", "8", "engine", "vllm"}),
                 std::nullopt, read::Catalogue(), {});
  CHECK(report.servers == 2);
  CHECK(report.launch.find("--tensor-parallel-size 8") != std::string::npos);
  CHECK(render::to_text(report, {}).find("2 times, each with 8 accelerators and a port of its own") !=
        std::string::npos);
}
