// The words of a server: defaults, contradictions and what is refused.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/resolve.hpp"
#include "read/vocabulary.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace llmcalc;
using Words = std::vector<std::string>;

read::Resolved resolved(const Words& words) {
  std::vector<read::Given> given;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    given.push_back({words[i], words[i + 1], {read::Source::flag, "--" + words[i]}});
  }
  return read::resolve_serving(given, std::nullopt, read::Catalogue());
}

std::string refused_at(const Words& words) {
  try {
    static_cast<void>(resolved(words));
  } catch (const quantity::BadInput& error) {
    return error.place();
  }
  return {};
}

TEST_CASE("a context without prompt and answer is filled by both") {
  const auto load = resolved({"model", "llama-3-8b", "context", "8k"}).question.serving.load;
  CHECK(load.context == 8192);
  CHECK(load.prompt + load.output == 8192);
  const auto other = resolved({"model", "llama-3-8b", "prompt", "1000", "output", "24"}).question.serving.load;
  CHECK(other.context == 1024);
  CHECK(resolved({"model", "llama-3-8b", "prompt", "0", "output", "0"}).question.serving.load.prompt == 0);
}

// The checkpoints' own quantization_config; llama.cpp common/arg.cpp, --hf-repo: "default to Q4_K_M".
TEST_CASE("weights that nobody describes are those that the engine finds") {
  using formats::Quant;
  const auto quant = [](const std::string& model, const std::string& engine) {
    return resolved({"model", model, "engine", engine}).question.serving.quant;
  };
  CHECK(quant("gpt-oss-120b", "vllm") == Quant::mxfp4);
  CHECK(quant("deepseek-v3", "sglang") == Quant::fp8_block);
  CHECK(quant("minimax-m2.5", "vllm") == Quant::fp8_block);
  CHECK(quant("kimi-k2.5", "trtllm") == Quant::int4);
  CHECK(quant("llama-3-8b", "hf") == Quant::bf16);
  CHECK(quant("llama-3-8b", "llama.cpp") == Quant::q4_k_m);
  CHECK(quant("gpt-oss-20b", "ollama") == Quant::mxfp4_moe);
  CHECK(resolved({"model", "gpt-oss-20b", "quant", "bf16"}).question.serving.quant == Quant::bf16);
  const auto said = resolved({"model", "gpt-oss-20b"}).assumptions;
  CHECK(said.back().sentence() == "--quant mxfp4, as its weights are published");
}

/// moonshotai/Kimi-K2.5 config.json, config_groups.group_0.weights.group_size.
TEST_CASE("groups are as wide as the weights are published, where those are what is served") {
  const auto groups = [](const Words& words) { return resolved(words).question.serving.group_size; };
  CHECK(groups({"model", "kimi-k2.5", "engine", "vllm"}) == 32);
  CHECK(groups({"model", "kimi-k2.5", "engine", "vllm", "group_size", "64"}) == 64);
  CHECK(groups({"model", "kimi-k2.5", "engine", "vllm", "quant", "int4"}) == 0);
  CHECK(groups({"model", "kimi-k2.5", "engine", "llama.cpp"}) == 0);
}

/// How publishers name what they have packed; a name that says nothing is the preset's own.
TEST_CASE("who names a GGUF and no engine means one that reads it") {
  using spec::Engine;
  const auto engine = [](const Words& words) { return resolved(words).question.serving.engine; };
  CHECK(engine({"model", "llama-3.1-8b"}) == Engine::vllm);
  CHECK(engine({"model", "llama-3.1-8b", "quant", "q4_k_m"}) == Engine::llama_cpp);
  CHECK(engine({"model", "bartowski/Llama-3.1-8B-Instruct-GGUF"}) == Engine::llama_cpp);
  CHECK(engine({"model", "llama-3.1-8b", "quant", "q4_k_m", "engine", "ollama"}) == Engine::ollama);
  CHECK(engine({"model", "llama-3.1-8b", "quant", "awq"}) == Engine::vllm);
}

TEST_CASE("weights are packed as the name says under which they were asked for") {
  using formats::Quant;
  const auto quant = [](const std::string& model, const std::string& engine) {
    return resolved({"model", model, "engine", engine}).question.serving.quant;
  };
  CHECK(quant("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4", "vllm") == Quant::gptq);
  CHECK(quant("hugging-quants/Meta-Llama-3.1-8B-Instruct-AWQ-INT4", "vllm") == Quant::awq);
  CHECK(quant("RedHatAI/Llama-3.1-8B-Instruct-FP8", "vllm") == Quant::fp8);
  CHECK(quant("deepseek-ai/DeepSeek-V3-FP8", "vllm") == Quant::fp8_block);
  CHECK(quant("Qwen/Qwen3-32B-FP8", "vllm") == Quant::fp8_block);
  CHECK(quant("RedHatAI/Qwen3-32B-FP8-dynamic", "vllm") == Quant::fp8);
  CHECK(quant("qwen3-32b-fp8-dynamic", "vllm") == Quant::fp8);
  CHECK(quant("unsloth/Llama-3.1-8B-Instruct-bnb-4bit", "vllm") == Quant::bnb_nf4);
  CHECK(quant("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int8", "vllm") == Quant::gptq_8bit);
  // Widths as llmfit 1.1.17 has them of the quantization_config of these files.
  CHECK(quant("cyankiwi/gemma-4-26B-A4B-it-AWQ-8bit", "vllm") == Quant::gptq_8bit);
  CHECK(quant("cyankiwi/Qwen3.5-9B-AWQ-BF16-INT8", "vllm") == Quant::gptq_8bit);
  CHECK(quant("cyankiwi/Qwen3.8-27B-AWQ-FP8", "vllm") == Quant::fp8);
  CHECK(quant("mratsim/MiniMax-M2.5-FP8-INT4-AWQ", "vllm") == Quant::awq);
  CHECK(quant("unsloth/Llama-3.1-8B-Instruct-bnb-8bit", "vllm") == Quant::bnb_int8);
  CHECK(quant("RedHatAI/gemma-4-31B-it-FP8-block", "vllm") == Quant::fp8_block);
  CHECK(quant("RedHatAI/GLM-5.2-NVFP4-FP8", "vllm") == Quant::nvfp4);
  CHECK(quant("RedHatAI/Qwen3-8B-NVFP4A16", "vllm") == Quant::nvfp4_a16);
  CHECK(quant("nm-testing/Qwen3-8B-W4A16_NVFP4", "vllm") == Quant::nvfp4_a16);
  CHECK(quant("RedHatAI/Qwen3-8B-quantized.w8a16", "vllm") == Quant::int8_a16);
  CHECK(quant("lued/Qwen3.8-27B-INT8-W8A16-MTP", "vllm") == Quant::int8_a16);
  CHECK(quant("unsloth/gpt-oss-20b-BF16", "vllm") == Quant::bf16);
  CHECK(quant("mistralai/Ministral-3-8B-Instruct-2512-BF16", "vllm") == Quant::bf16);
  CHECK(quant("mistralai/Ministral-3-8B-Instruct-2512", "vllm") == Quant::fp8);
  CHECK(quant("llama3.1:8b-instruct-q5_K_M", "ollama") == Quant::q5_k_m);
  CHECK(quant("llama3.1:8b", "ollama") == Quant::q4_k_m);
}

TEST_CASE("accelerators that are only counted cut each layer, or hold layers each") {
  const auto vllm = resolved({"model", "llama-3-70b", "gpu", "h100-sxm:4"}).question.layout;
  CHECK(vllm.tp == 4);
  CHECK(vllm.dp == 1);
  const auto copies = resolved({"model", "llama-3-70b", "gpu", "h100-sxm:8", "tp", "4"}).question.layout;
  CHECK(copies.dp == 2);
  const auto cards = resolved({"model", "llama-3-70b", "engine", "llama.cpp", "gpu", "rtx-3090:2"}).question.layout;
  CHECK(cards.tp == 1);
  CHECK(cards.gpus == 2);
}

TEST_CASE("ranks that share a layer's experts cut them or spread them") {
  const auto spread = resolved({"model", "deepseek-v3", "tp", "8", "ep", "8"}).question;
  CHECK(spread.layout.etp == 1);
  const auto cut = resolved({"model", "deepseek-v3", "tp", "4", "attention_dp", "2", "expert_tp", "4"}).question;
  CHECK(cut.layout.ep == 2);
  CHECK(cut.layout.gpus == 8);
}

TEST_CASE("words that contradict each other are named") {
  CHECK(refused_at({"model", "llama-3-8b", "tp", "3"}) == "--tp");
  CHECK(refused_at({"model", "llama-3-8b", "ep", "2"}) == "--ep");
  CHECK(refused_at({"model", "deepseek-v3", "tp", "8", "ep", "3"}) == "--ep");
  CHECK(refused_at({"model", "deepseek-v3", "tp", "8", "ep", "4", "expert_tp", "4"}) == "--expert_tp");
  CHECK(refused_at({"model", "llama-3-8b", "pp", "64"}) == "--pp");
  CHECK(refused_at({"model", "llama-3-8b", "context", "1k", "prompt", "2k"}) == "--context");
  CHECK(refused_at({"model", "llama-3-8b", "gpu", "h100-sxm:6", "tp", "4"}) == "--gpu");
}

TEST_CASE("what cannot be read is refused with its place") {
  CHECK(refused_at({"model", "llama-3-8b", "quant", "q4_z"}) == "--quant");
  CHECK(refused_at({"model", "llama-3-8b", "draft", "oracle"}) == "--draft");
  CHECK(refused_at({"model", "llama-3-8b", "memory_fraction", "1.5"}) == "--memory_fraction");
  CHECK(refused_at({"model", "llama-3-8b", "optimizer", "adamw"}) == "--optimizer");
  CHECK(refused_at({"model", "llama-3-8b", "gpu_layers", "many"}) == "--gpu_layers");
  CHECK(refused_at({"engine", "vllm"}) == "--model");
}

TEST_CASE("files that were mixed for one model are taken as the nearest type") {
  const auto serving = resolved({"model", "llama-3-8b", "engine", "llama.cpp", "quant", "UD-Q4_K_XL"}).question.serving;
  CHECK(serving.quant == formats::Quant::q4_k_m);
  CHECK(serving.mixed_by_hand);
  CHECK(!resolved({"model", "llama-3-8b", "engine", "llama.cpp", "quant", "Q4_K_M"}).question.serving.mixed_by_hand);
  const auto named = [](const char* name) { return resolved(Words{"model", name}).question.serving; };
  CHECK(named("unsloth/Qwen3-8B-GGUF:UD-Q4_K_XL").quant == formats::Quant::q4_k_m);
  CHECK(named("bartowski/Qwen_Qwen3-8B-GGUF:Q6_K_L").quant == formats::Quant::q6_k);
  CHECK(named("bartowski/Qwen_Qwen3-8B-GGUF:Q6_K_L").mixed_by_hand);
  CHECK(named("unsloth/Qwen3-8B-GGUF:UD-IQ2_XXS").mixed_by_hand);
  CHECK(!named("bartowski/Qwen_Qwen3-8B-GGUF:Q3_K_L").mixed_by_hand);
}

TEST_CASE("every value of the echo can be typed again") {
  const Words words{"model", "deepseek-v3", "engine", "vllm",  "quant", "fp8-block", "gpu", "h200-sxm:8", "tp",
                    "8",     "context",     "8k",     "draft", "mtp:2", "kv_dtype",  "fp8", "max_loras",  "2"};
  const auto first = resolved(words);
  Words again;
  for (const auto& line : first.echo) {
    again.push_back(line.term);
    again.push_back(line.text);
  }
  const auto second = resolved(again);
  REQUIRE(second.echo.size() == first.echo.size());
  for (std::size_t i = 0; i < first.echo.size(); ++i) {
    CHECK(second.echo[i].term == first.echo[i].term);
    CHECK(second.echo[i].text == first.echo[i].text);
  }
}

}  // namespace
