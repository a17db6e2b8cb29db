// What a type, a framework and a kind of model imply where nobody says otherwise.
#include "catch.hpp"
#include "read/typed.hpp"

#include <string>
#include <string_view>
#include <utility>

using namespace llmcalc;
using namespace llmcalc::test;
using read::Source;

namespace {

spec::Precision precision(std::string_view line) {
  return ask("--params 1e9 " + std::string(line)).question.training.precision;
}

/// Bytes a parameter: weights, gradients, master copy and the two moments of AdamW.
double bytes_per_parameter(const spec::Precision& p) {
  const auto bytes = [](formats::Dtype dtype) { return formats::facts(dtype).bits / 8.0; };
  return bytes(p.weights) + bytes(p.grads) + (p.master ? 4.0 : 0.0) + 2.0 * bytes(p.moments);
}

}  // namespace

// Bytes a parameter: ZeRO (arXiv:1910.02054 section 3.1) 16, Megatron-LM dist_optimizer.md 18, torch AdamW states
// follow the parameter (8 for pure bf16, as torchtune's README measures).
TEST_CASE("recipes keep what the framework keeps") {
  const std::pair<std::string_view, double> recipes[] = {
      {"--dtype fp32", 16},
      {"--dtype bf16", 12},
      {"--dtype fp16", 12},
      {"--dtype mixed-bf16", 18},
      {"--dtype mixed-fp16", 18},
      {"--dtype bf16 --framework hf", 8},
      {"--dtype mixed-bf16 --framework hf", 16},
      {"--dtype bf16 --framework torchtune --optimizer adamw", 8},
      {"--dtype bf16 --framework megatron", 18},
      {"--dtype mixed-bf16 --framework megatron", 18},
      {"--dtype bf16 --framework deepspeed", 16},
      {"--dtype bf16 --optimizer adamw-8bit", 6},
      {"--weights bf16", 12},
      {"--weights fp32 --autocast 1", 16},
      {"--weights bf16 --grads fp32 --framework megatron", 18},
  };
  for (const auto& [line, bytes] : recipes) {
    INFO(line);
    CHECK(bytes_per_parameter(precision(line)) == bytes);
  }
}

// 16 bytes a parameter (arXiv:1910.02054 section 3.1) whatever the trainer keeps without it; of frozen weights two.
TEST_CASE("transformers' trainers hand ZeRO to DeepSpeed, which has masters and no autocast") {
  for (const std::string trainer : {"hf", "trl", "accelerate", "axolotl", "llama-factory", "ms-swift", "liger"}) {
    const std::string run = "--framework " + trainer + " --dp 4 --sharding ";
    for (const std::string stage : {"zero1", "zero2", "zero3"}) {
      INFO(trainer << ' ' << stage);
      const auto p = precision(run + stage + " --method full --dtype bf16");
      CHECK(bytes_per_parameter(p) == 16);
      CHECK_FALSE(p.autocast);
      CHECK(precision(run + stage + " --method lora --dtype mixed-bf16").weights == formats::Dtype::bf16);
      CHECK_FALSE(precision(run + stage + " --method full --dtype fp32").master);
    }
    CHECK_FALSE(precision(run + "fsdp2 --method full --dtype bf16").master);
    CHECK_FALSE(precision(run + "zero2 --method full --dtype bf16 --master-weights 0").master);
  }
  CHECK(bytes_per_parameter(precision("--framework hf --dp 4 --zero 2 --method full --optimizer adamw-8bit")) == 10);
  CHECK_FALSE(precision("--framework composer --dp 4 --sharding zero2 --dtype bf16").master);
}

// peft's adapters are fp32 (autocast_adapter_dtype); torchtune makes the whole model under set_default_dtype.
TEST_CASE("adapters rest in fp32 where peft makes them, and in the model's type elsewhere") {
  const auto of = [](const std::string& run) { return precision("--lora-rank 8 " + run); };
  for (const std::string run : {"--method lora --framework torchtune", "--method qlora --framework torchtune",
                                "--method lora --framework litgpt --dtype bf16"}) {
    INFO(run);
    CHECK(of(run).grads == formats::Dtype::bf16);
    CHECK(of(run).moments == formats::Dtype::bf16);
  }
  CHECK(of("--method lora --framework torchtune --dtype fp32").grads == formats::Dtype::fp32);
  CHECK(of("--method lora --framework litgpt --dtype mixed-bf16").grads == formats::Dtype::fp32);
  CHECK(of("--method lora --framework hf --dtype bf16").moments == formats::Dtype::fp32);
}

// accelerate upcasts under FSDP; axolotl's own fsdp2_prepare_model does not (monkeypatch/accelerate/fsdp2.py).
TEST_CASE("under FSDP2 axolotl keeps the 16 bits that accelerate widens") {
  const auto unasked = [](const std::string& framework, const std::string& sharding) {
    return precision("--framework " + framework + " --method full --dp 4 --sharding " + sharding).weights;
  };
  CHECK(unasked("axolotl", "fsdp2") == formats::Dtype::bf16);
  CHECK(unasked("axolotl", "fsdp1") == formats::Dtype::fp32);
  CHECK(unasked("accelerate", "fsdp2") == formats::Dtype::fp32);
}

TEST_CASE("explicit words override the recipe") {
  const auto p = precision("--dtype mixed-bf16 --grads bf16 --optimizer-states bf16 --master-weights 0");
  CHECK(p.grads == formats::Dtype::bf16);
  CHECK(p.moments == formats::Dtype::bf16);
  CHECK_FALSE(p.master);
  CHECK(precision("--dtype mixed-bf16 --framework hf").autocast);
}

TEST_CASE("a recipe answers to other names of its type, and a type of products is told from one") {
  CHECK(precision("--dtype bfloat16").weights == formats::Dtype::bf16);
  CHECK(precision("--dtype float32").weights == formats::Dtype::fp32);
  CHECK_THROWS_WITH(ask("--params 7B --dtype fp8"), Catch::Matchers::Contains("--dtype bf16 --compute fp8-e4m3"));
  CHECK_THROWS_WITH(ask("--params 7B --dtype bf61"), Catch::Matchers::Contains("did you mean"));
}

TEST_CASE("qlora keeps the base in nf4-dq and its adapters in fp32") {
  const auto p = precision("--method qlora --dtype bf16 --lora-rank 64");
  CHECK(p.weights == formats::Dtype::nf4_dq);
  CHECK(p.compute == formats::Dtype::bf16);
  CHECK(p.grads == formats::Dtype::fp32);
}

/// Megatron-LM training/arguments.py, --hidden-dropout; bigscience train/tr11-176B-ml/README.md: "The default
/// Megatron-LM dropout settings are inherited", with ALiBi.
TEST_CASE("Megatron's GPTs have its default dropout") {
  const std::string gpt =
      "--layers 70 --hidden 14336 --heads 112 --ffn 57344 --vocab 250880 --mlp gelu --norm layernorm --bias all"
      " --framework megatron-deepspeed --position ";
  CHECK(ask(gpt + "learned").question.model.shape.dropout == 0.1);
  CHECK(ask(gpt + "alibi").question.model.shape.dropout == 0.1);
  CHECK(ask(gpt + "rope").question.model.shape.dropout == 0.0);
  CHECK(ask(gpt + "alibi --dropout 0").question.model.shape.dropout == 0.0);
}

/// InternLM internlm/train/training_internlm.py, initialize_optimizer: torch.optim.AdamW.
TEST_CASE("InternEvo updated with torch's chain of kernels in 2023") {
  const std::string line = "--model internlm-7b --framework internevo --framework-version 2023";
  CHECK(ask(line).question.training.optimizer_impl == spec::OptimizerImpl::loop);
  CHECK(ask(line + " --optimizer-impl fused").question.training.optimizer_impl == spec::OptimizerImpl::fused);
}

TEST_CASE("recipes of latent attention send tokens by node, those of other mixtures since Bridge 0.4") {
  const std::string run = " --gpu h100-sxm:64 --ep 64 --framework ";
  const auto bridge = ask("--model deepseek-v3" + run + "megatron-bridge");
  CHECK(bridge.question.layout.node_dispatch);
  CHECK(echoed(bridge, "node_dispatch").origin.source == Source::assumed);
  const std::string mixture = "--model qwen3-235b-a22b" + run + "megatron-bridge";
  CHECK(ask(mixture).question.layout.node_dispatch);
  CHECK_FALSE(ask(mixture + " --framework-version 'NeMo 25.09'").question.layout.node_dispatch);
  CHECK_FALSE(ask("--model deepseek-v3" + run + "megatron").question.layout.node_dispatch);
  CHECK_FALSE(ask("--model deepseek-v3 --node-dispatch 0" + run + "megatron-bridge").question.layout.node_dispatch);
}

TEST_CASE(
    "torchtune and peft train adapters without dropout unless told otherwise, trl's and the textbook's have some") {
  const auto dropout = [](const std::string& words) {
    return ask("--model llama-2-7b --method lora " + words).question.training.adapter.dropout;
  };
  CHECK(dropout("--framework torchtune") == 0.0);
  CHECK(dropout("--framework torchtune --lora-dropout 0.1") == 0.1);
  CHECK(dropout("--framework hf") == 0.0);
  CHECK(dropout("--framework trl") == 0.05);
  CHECK(dropout("--framework generic") == 0.05);
}
