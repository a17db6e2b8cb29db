// Names of cards and models as drivers, shops and hubs spell them.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/read/presets.hpp"
#include "llmcalc/read/synonyms.hpp"

#include <string>
#include <utility>

using namespace llmcalc;
using Catch::Matchers::Contains;

namespace {

std::string card(std::string_view name) { return read::Catalogue().accelerator(name, "--gpu").accelerator.id; }
std::string model(std::string_view name) { return read::Catalogue().model(name, "--model").id; }

}  // namespace

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
  };
  for (const auto& [name, id] : names) {
    INFO(name);
    CHECK(model(name) == id);
  }
}

TEST_CASE("a distilled model is not the model it was distilled from") {
  CHECK_THROWS_AS(model("deepseek-ai/DeepSeek-R1-Distill-Phi-9B"), quantity::BadInput);
}

TEST_CASE("suggestions name a preset once, the same size first") {
  try {
    model("llama-3.1-8x");
    FAIL("is no model");
  } catch (const quantity::BadInput& error) {
    const std::string hint(error.hint());
    CHECK(hint.find("llama-3.1-8b") == hint.rfind("llama-3.1-8b"));
  }
  CHECK_THROWS_WITH(model("lama-3.1-8b"), Contains("did you mean 'llama-3.1-8b'"));
}

TEST_CASE("options have the names of other programs too") {
  CHECK(read::synonym_of("per_device_train_batch_size") == "micro-batch");
  CHECK(read::synonym_of("max-seq-len") == "seq");
  CHECK(read::synonym_of("gradient-checkpointing") == "recompute");
  CHECK(read::synonym_of("ram") == "host-memory");
  CHECK(read::synonym_of("colour").empty());
}

TEST_CASE("a switch of another program is answered with what says the same here") {
  CHECK_THAT(std::string(read::saying_of("bf16")), Contains("--dtype mixed-bf16"));
  CHECK_THAT(std::string(read::saying_of("load_in_4bit")), Contains("--method qlora"));
  CHECK_THAT(std::string(read::saying_of("learning-rate")), Contains("leave it out"));
  CHECK(read::saying_of("colour").empty());
}
