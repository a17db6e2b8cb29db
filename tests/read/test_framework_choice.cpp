// Whose trainer a question is about that names none.
#include "frameworks/table.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/typed.hpp"

using namespace llmcalc;

namespace {

read::Resolved untold(std::string_view line) {
  return read::resolve(test::words(line), std::nullopt, read::Catalogue());
}

std::string chosen_for(std::string_view line) {
  return std::string(frameworks::row_of(untold(line).question.training.framework).words.front());
}

}  // namespace

TEST_CASE("without a framework the layout decides") {
  CHECK(chosen_for("--model llama-3-8b --gpu h100-sxm") == "accelerate");
  CHECK(chosen_for("--model llama-3-8b --gpu h100-sxm:8") == "accelerate");
  CHECK(chosen_for("--model llama-3-8b --gpu h100-sxm:8 --zero 2") == "deepspeed");
  CHECK(chosen_for("--model llama-3-8b --gpu h100-sxm:8 --sharding fsdp2") == "torchtitan");
  CHECK(chosen_for("--model llama-3-8b --gpu h100-sxm:8 --tp 8") == "megatron");
  CHECK(chosen_for("--model mixtral-8x7b --gpu h100-sxm:8 --ep 8") == "megatron");
  CHECK(chosen_for("--params 1e9 --dtype bf16 --gpu a100-80") == "generic");
  CHECK(chosen_for("--params 7e9 --gpu h100-sxm:8 --zero 3") == "deepspeed");
  CHECK(chosen_for("--model llama-3-8b --activations rule-of-thumb") == "generic");
}

/// Without a layout, with several cards and with their states shared out; of a size as of a name.
TEST_CASE("adapters are asked as a tuner's trainer runs them") {
  for (const std::string model : {"--model llama-3.1-8b", "--params 13b"}) {
    for (const std::string method : {"lora", "qlora", "dora", "ia3", "prompt", "prefix", "adalora"}) {
      for (const std::string layout : {"", ":8", ":8 --zero 3"}) {
        const auto line = model + " --method " + method + " --gpu h100-sxm" + layout;
        CAPTURE(line);
        CHECK(chosen_for(line) == "trl");
      }
    }
  }
}

TEST_CASE("the first framework that can do all that is asked is taken") {
  CHECK(chosen_for("--model llama-3-8b --gpu h100-sxm:8 --sharding fsdp2 --method qlora") == "trl");
  CHECK(chosen_for("--model llama-3-8b --gpu h100-sxm:8 --tp 8 --method lora") == "megatron-bridge");
  CHECK(chosen_for("--model llama-3-8b --gpu h100-sxm --algorithm dpo") == "trl");
  CHECK(chosen_for("--model llama-3-8b --gpu h100-sxm --algorithm ppo") == "llama-factory");
  CHECK(chosen_for("--model llama-3-8b --gpu h100-sxm --optimizer soap") == "accelerate");
}

TEST_CASE("a framework that the layout chose, said aloud, changes nothing") {
  for (const std::string line : {"--model llama-3-8b --gpu h100-sxm:8 --zero 3", "--model llama-3-8b --gpu rtx-4090",
                                 "--model llama-3-70b --gpu h100-sxm:64 --tp 8 --pp 2"}) {
    const auto untyped = untold(line);
    const auto typed = untold(line + " --framework " + chosen_for(line));
    CAPTURE(line);
    CHECK(test::echoed(untyped, "framework").origin.source == read::Source::assumed);
    for (const auto& echo : untyped.echo) CHECK(test::echoed(typed, echo.term).text == echo.text);
  }
}

TEST_CASE("who names a model to a trainer tunes it, who pre-trains sees 20 tokens a parameter") {
  const auto steps = [](const std::string& line) { return untold(line).question.pricing.data.steps; };
  CHECK(steps("--model llama-3-8b --gpu h100-sxm") == 1000.0);
  CHECK(steps("--model llama-3-8b --gpu h100-sxm --framework megatron-bridge --method lora") == 1000.0);
  CHECK(steps("--model llama-3-8b --gpu h100-sxm --framework torchtune") == 1000.0);
  CHECK_FALSE(steps("--model llama-3-8b --gpu h100-sxm:8 --framework megatron"));
  CHECK_FALSE(steps("--params 1e9 --framework hf --gpu h100-sxm"));
  CHECK_FALSE(steps("--model llama-3-8b --gpu h100-sxm --samples 50k"));
}

/// Touvron et al. 2023, arXiv:2307.09288 section 2.2: "a global batch-size of 4M tokens".
TEST_CASE("a step of pre-training sees 4M tokens where the framework leaves its batch to its user") {
  const auto tokens = [](const std::string& line) {
    const auto& training = untold(line).question.training;
    return static_cast<double>(training.global_batch * training.seq);
  };
  const std::string run = "--model llama-2-7b --gpu a100-80:16 --framework ";
  CHECK(tokens(run + "megatron") == Approx(4e6).epsilon(0.05));
  CHECK(tokens(run + "megatron --tp 2 --pp 4") == Approx(4e6).epsilon(0.05));
  CHECK(tokens(run + "torchtitan") == 16 * 8 * 2048);  // config/configs.py: bs x dp
  CHECK(tokens(run + "megatron --grad-accum 3") == 3 * 16 * 4096);
  const auto filled = untold("--model llama-2-7b --gpu a100-80:4096 --framework megatron --pp 8 --micro-batch 4");
  CHECK(filled.question.training.grad_accum == 32);  // four micro-batches a stage
}

TEST_CASE("the answer says what a recipe means to the framework") {
  const auto says = [](const std::string& line, const std::string& words) {
    const auto resolved = untold("--model llama-3-8b --gpu h100-sxm --dtype bf16 --framework " + line);
    return std::ranges::any_of(resolved.assumptions,
                               [&](const auto& one) { return one.words.find(words) != std::string::npos; });
  };
  CHECK(says("hf", "weights, gradients and moments in bf16"));
  CHECK(says("trl", "weights, gradients and moments in bf16"));  // trainer/model_config.py: dtype
  CHECK(says("torchtitan", "fp32 weights under autocast to bf16"));
  CHECK(says("megatron", "bf16 weights, fp32 masters, fp32 gradients"));
  CHECK(says("deepspeed", "bf16 weights, fp32 masters, bf16 gradients"));
  CHECK(says("generic", "weights and gradients in bf16, moments in fp32"));
  CHECK(says("hf --method lora", "bf16 base, adapters in fp32"));
  CHECK(says("hf --grads fp32", "bf16 weights, gradients in fp32, moments in bf16"));
  CHECK(says("hf --optimizer sgd", "weights and gradients in bf16"));
  CHECK_FALSE(says("hf --optimizer sgd", "moments"));
}
