// Names of cards and models as drivers, shops and hubs spell them.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"
#include "read/presets.hpp"
#include "read/presets/names.hpp"
#include "read/resolve.hpp"
#include "read/vocabulary.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace llmcalc;
using Catch::Matchers::Contains;

namespace {

std::string card(std::string_view name) { return read::Catalogue().accelerator(name, "--gpu").accelerator.id; }
std::string model(std::string_view name) { return read::Catalogue().model(name, "--model").id; }

}  // namespace

TEST_CASE("what is no card is told by what it is") {
  const auto told = [](const char* name) {
    try {
      card(name);
      return std::string();
    } catch (const quantity::BadInput& error) {
      return error.hint();
    }
  };
  CHECK_THAT(told("24GB"), Contains("--memory 24GB"));
  CHECK_THAT(told("cpu"), Contains("not modelled"));
  CHECK_THAT(told("colab"), Contains("t4"));
  CHECK_THAT(told("h100-90"), Contains("did you mean"));
}

/// The names on the right are those of `nvidia-smi --query-gpu=name` and of rocm-smi.
TEST_CASE("a card is found by what its driver, its maker and people call it") {
  const std::pair<const char*, const char*> names[] = {
      {"rtx4090", "rtx-4090"},
      {"RTX 4090", "rtx-4090"},
      {"RTX 4090 24GB", "rtx-4090"},
      {"NVIDIA GeForce RTX 4090", "rtx-4090"},
      {"NVIDIA GeForce RTX 4090 Laptop GPU", "rtx-4090-laptop"},
      {"NVIDIA GeForce RTX 3060", "rtx-3060-12"},
      {"NVIDIA GeForce RTX 3070", "rtx-3070"},
      {"RTX 5060 Ti 8GB", "rtx-5060-ti-8"},
      {"RTX 5060 Ti 16GB", "rtx-5060-ti-16"},
      {"NVIDIA H100 80GB HBM3", "h100-sxm"},
      {"NVIDIA H100 PCIe", "h100-pcie"},
      {"NVIDIA H100 NVL", "h100-nvl"},
      {"NVIDIA H200", "h200-sxm"},
      {"NVIDIA A100-SXM4-80GB", "a100-80-sxm"},
      {"NVIDIA A100 80GB PCIe", "a100-80-pcie"},
      {"NVIDIA A100-SXM4-40GB", "a100-40-sxm"},
      {"NVIDIA A10G", "a10g"},
      {"NVIDIA L40S", "l40s"},
      {"NVIDIA RTX A6000", "rtx-a6000"},
      {"NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada"},
      {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000-blackwell"},
      {"Tesla T4", "t4"},
      {"Tesla P40", "p40"},
      {"Tesla V100-SXM2-32GB", "v100-sxm2-32"},
      {"Quadro RTX 8000", "quadro-rtx-8000"},
      {"AMD Instinct MI300X", "mi300x"},
      {"AMD Radeon RX 9070 XT", "rx-9070-xt"},
      {"Radeon AI PRO R9700", "radeon-ai-pro-r9700"},
      {"4070 ti super", "rtx-4070-ti-super"},
      {"4080 super", "rtx-4080-super"},
      {"4090D", "rtx-4090-d"},
      {"7900 xtx", "rx-7900-xtx"},
      {"arc a770", "arc-a770-16"},
      {"TITAN RTX", "titan-rtx"},
      {"NVIDIA GH200 480GB", "gh200-96"},
      {"NVIDIA RTX 4000 SFF Ada Generation", "rtx-4000-sff-ada"},
      {"AMD RYZEN AI MAX+ 395", "ryzen-ai-max-395"},
  };
  for (const auto& [name, id] : names) {
    INFO(name);
    CHECK(card(name) == id);
  }
}

TEST_CASE("a capacity that the card does not have is no spelling of it") {
  CHECK_THROWS_AS(card("RTX 4090 48GB"), quantity::BadInput);
}

TEST_CASE("a model is found by hub names with any organisation and suffix") {
  const std::pair<const char*, const char*> names[] = {
      {"unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit", "llama-3.1-8b"},
      {"NousResearch/Meta-Llama-3.1-8B", "llama-3.1-8b"},
      {"meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"},
      {"Qwen/Qwen2.5-7B-Instruct-AWQ", "qwen2.5-7b"},
      {"Qwen/Qwen3-4B-Instruct-2507", "qwen3-4b"},
      {"google/gemma-2-9b-it", "gemma-2-9b"},
      {"llama3.1:8b", "llama-3.1-8b"},
      {"qwen2.5:7b", "qwen2.5-7b"},
      {"TinyLlama/TinyLlama-1.1B-Chat-v1.0", "tinyllama-1.1b"},
      {"lmsys/vicuna-7b-v1.5", "llama-2-7b"},
      {"deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "llama-3.1-8b"},
      {"llama3:8b", "llama-3-8b"},
      {"llama3.1:8b-instruct-q4_K_M", "llama-3.1-8b"},
      {"unsloth/Llama-3.2-3B-Instruct-unsloth-bnb-4bit", "llama-3.2-3b"},
      {"bartowski/Llama-3.3-70B-Instruct-GGUF", "llama-3.3-70b"},
      {"meta-llama/Llama-4-Scout-17B-16E-Instruct", "llama-4-scout"},
      {"Qwen/Qwen3-8B-Base", "qwen3-8b"},
      {"unsloth/Qwen2.5-7B-Instruct-1M", "qwen2.5-7b"},
      {"Qwen/Qwen2.5-Coder-7B-Instruct", "qwen2.5-7b"},
      {"Qwen/Qwen3-235B-A22B-Thinking-2507", "qwen3-235b-a22b"},
      {"Qwen/Qwen3.5-9B-Base", "qwen3.5-9b"},
      {"qwen3.5:9b", "qwen3.5-9b"},
      {"Qwen3.6-27B-FP8", "qwen3.6-27b"},
      {"Qwen/Qwen3.8-27B", "qwen3.6-27b"},
      {"mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b-v0.3"},
      {"mistralai/Mistral-Small-3.2-24B-Instruct-2506", "mistral-small-3.2-24b"},
      {"unsloth/Mistral-Small-3.2-24B-Instruct-2506-bnb-4bit", "mistral-small-3.2-24b"},
      {"mistralai/Ministral-3-8B-Base-2512", "ministral-3-8b"},
      {"mistralai/Ministral-3-14B-Reasoning-2512", "ministral-3-14b"},
      {"gemma-3-27b-it", "gemma-3-27b"},
      {"google/gemma-3-4b-it-qat-q4_0-gguf", "gemma-3-4b"},
      {"unsloth/gemma-4-31B-it-unsloth-bnb-4bit", "gemma-4-31b"},
      {"gemma4:26b", "gemma-4-26b-a4b"},
      {"gpt-oss:20b", "gpt-oss-20b"},
      {"unsloth/gpt-oss-20b-BF16", "gpt-oss-20b"},
      {"deepseek-ai/DeepSeek-R1-0528", "deepseek-v3"},
      {"deepseek-ai/DeepSeek-V3.1", "deepseek-v3"},
      {"microsoft/Phi-4-reasoning", "phi-4"},
      {"microsoft/Phi-4-mini-reasoning", "phi-4-mini"},
      {"ibm-granite/granite-4.0-h-tiny-base", "granite-4.0-h-tiny"},
      {"allenai/Olmo-3-7B-Instruct", "olmo-3-7b"},
      {"allenai/Olmo-3-32B-Think", "olmo-3-32b"},
      {"zai-org/GLM-4.5-Air-FP8", "glm-4.5-air"},
      {"moonshotai/Kimi-K2-Thinking", "kimi-k2"},
      {"HuggingFaceTB/SmolLM3-3B-Base", "smollm3-3b"},
  };
  for (const auto& [name, id] : names) {
    INFO(name);
    CHECK(model(name) == id);
  }
}

/// A name that says a part only names its candidates: nothing is taken silently.
TEST_CASE("a name of several models or cards is answered with them") {
  const auto hint = [](auto find, std::string_view name) {
    try {
      find(name);
    } catch (const quantity::BadInput& error) {
      return std::string(error.hint());
    }
    return std::string("taken");
  };
  const std::tuple<const char*, const char*, const char*> models[] = {
      {"llama3", "which of llama-3-8b, llama-3-70b, llama-3.1-8b", "llama-30b"},
      {"llama3.1", "which of llama-3.1-8b, llama-3.1-70b and llama-3.1-405b?", "llama-3-8b"},
      {"llama4", "which of llama-4-scout and llama-4-maverick?", "llama-7b"},
      {"qwen3", "qwen3-8b, ", "qwen2"},
      {"qwen2.5", "which of qwen2.5-0.5b, ", "qwen2-"},
      {"mistral", "mistral-7b-v0.1, ", "ministral"},
      {"mistral-small", "which of mistral-small-4, mistral-small-24b and mistral-small-3.2-24b?", "ministral"},
      {"ministral", "which of ministral-8b, ministral-3-3b, ministral-3-8b and ministral-3-14b?", "mistral-small"},
      {"gemma4", "which of gemma-4-e2b, gemma-4-e4b, gemma-4-12b, gemma-4-26b-a4b and gemma-4-31b?", "gemma-2"},
      {"gpt-oss", "which of gpt-oss-20b and gpt-oss-120b?", "gpt-j"},
      {"phi3", "which of phi-3-mini, phi-3-medium", "phi-2"},
      {"granite4", "which of granite-4.0-350m, ", "gpt"},
      {"olmo3", "which of olmo-3-7b and olmo-3-32b?", "bloom"},
      {"kimi", "which of kimi-k2, kimi-k2.5, kimi-k3, kimi-linear-48b-a3b and kimi-dev-72b?", "minicpm"},
      {"minimax", "which of minimax-m2.5, minimax-text-01 and minimax-m3?", "minicpm"},
      {"smollm2", "which of smollm2-135m, smollm2-360m and smollm2-1.7b?", "smollm-"},
  };
  for (const auto& [name, candidates, other] : models) {
    INFO(name);
    CHECK_THAT(hint(model, name), Contains(candidates) && !Contains(other));
  }
  CHECK_THAT(hint(card, "a100 pcie"), Contains("which of a100-80-pcie and a100-40-pcie?") ||
                                          Contains("which of a100-40-pcie and a100-80-pcie?"));
  CHECK_THAT(hint(card, "ironwod"), Contains("did you mean 'tpu-v7'?"));
}

TEST_CASE("a distilled model is not the model it was distilled from") {
  CHECK_THROWS_AS(model("deepseek-ai/DeepSeek-R1-Distill-Phi-9B"), quantity::BadInput);
}

TEST_CASE("suggestions name a preset once, the same size first") {
  for (const auto& [name, id] : {std::pair{"llama-3.1-8x", "'llama-3.1-8b'"}, {"llama-3-405b", "'llama-3.1-405b'"}}) {
    try {
      model(name);
      FAIL("is no model");
    } catch (const quantity::BadInput& error) {
      const std::string hint(error.hint());
      INFO(hint);
      CHECK(hint.find(id) != std::string::npos);
      CHECK(hint.find(id) == hint.rfind(id));
    }
  }
  CHECK_THROWS_WITH(model("lama-3.1-8b"), Contains("did you mean 'llama-3.1-8b'"));
}

/// A piece between separators that is a number of billions or millions.
TEST_CASE("the size in a name is the first of its pieces that is one") {
  const auto is_size = [](std::string_view piece) {
    const auto digits = piece.substr(0, piece.find_first_not_of("0123456789."));
    return !digits.empty() && piece.size() == digits.size() + 1 && (piece.back() == 'b' || piece.back() == 'm') &&
           digits.front() != '.';
  };
  int sized = 0;
  for (const auto& preset : read::Catalogue().models()) {
    const auto pieces = quantity::pieces_of(preset.id, "-");
    const auto first = std::ranges::find_if(pieces, is_size);
    CAPTURE(preset.id);
    if (first != pieces.end()) CHECK(read::size_in(preset.id) == *first);
    if (first != pieces.end()) CHECK(read::size_in(*first) == *first);
    sized += first != pieces.end() ? 1 : 0;
  }
  CHECK(sized > 100);
}

TEST_CASE("options have the names of other programs too") {
  using Names = std::vector<std::string_view>;
  CHECK(read::synonyms_of("max-seq-len") == Names{"seq"});
  CHECK(read::synonyms_of("ram") == Names{"host-memory"});
  CHECK(read::synonyms_of("colour").empty());
}

TEST_CASE("a switch of another program is answered with what says the same here") {
  CHECK_THAT(std::string(read::saying_of("bf16")), Contains("--dtype mixed-bf16"));
  CHECK_THAT(std::string(read::saying_of("load_in_4bit")), Contains("--method qlora"));
  CHECK_THAT(std::string(read::saying_of("learning-rate")), Contains("leave it out"));
  CHECK(read::saying_of("colour").empty());
}

/// "h100-sxm x 8", or what is told of a name that is none.
TEST_CASE("names as people type them are what an expert takes them for") {
  std::ifstream file(LLMCALC_TEST_DATA "/read/names.txt");
  std::string kind;
  std::size_t asked = 0;
  for (std::string line; std::getline(file, line);) {
    const auto arrow = line.find(" => ");
    if (line.starts_with('[')) kind = line.substr(1, line.find(']') - 1);
    if (line.starts_with('#') || arrow == std::string::npos) continue;
    INFO(line);
    const auto expected = line.substr(arrow + 4);
    std::string told;
    try {
      const std::vector<read::Given> words{{kind, line.substr(0, arrow), {read::Source::flag, "--" + kind}},
                                           {kind == "gpu" ? "params" : "gpu", kind == "gpu" ? "1B" : "h100-sxm", {}}};
      const auto question = read::resolve(words, std::nullopt, read::Catalogue()).question;
      const auto count = question.layout.gpus > 1 ? " x " + std::to_string(question.layout.gpus) : std::string();
      told = kind == "gpu" ? question.gpu->id + count : model(line.substr(0, arrow));
      CHECK(told == expected);
    } catch (const quantity::BadInput& error) {
      REQUIRE(expected.starts_with("refused "));
      CHECK_THAT(error.what(), Contains(expected.substr(expected.find(' ') + 1)));
    }
    ++asked;
  }
  CHECK(asked > 300);
}

TEST_CASE("whoever says a preset's name among other words is asked whether that is meant") {
  const read::Catalogue catalogue;
  const auto told = [](const auto& ask) {
    try {
      ask();
    } catch (const quantity::BadInput& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto among = [](const std::string& id) { return "an old server in the cellar with " + id + " inside"; };
  for (const auto& preset : catalogue.accelerators()) {
    const auto& id = preset.accelerator.id;
    CHECK_THAT(told([&] { return catalogue.accelerator(among(id), "--gpu"); }),
               Contains("'" + id + "'") || Contains(id + "?"));
  }
  std::size_t turn = 0;
  for (const auto& preset : catalogue.models()) {
    if (turn++ % 10 == 0)
      CHECK_THAT(told([&] { return catalogue.model(among(preset.id), "--model"); }), Contains(preset.id));
  }
}
