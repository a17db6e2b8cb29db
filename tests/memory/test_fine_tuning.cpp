// What methods other than full training and LoRA add to a frozen model.

#include "asked.hpp"
#include "catch.hpp"
#include "program/count.hpp"

#include <algorithm>

using namespace llmcalc;
using quantity::in_bytes;
using quantity::in_flops;
using test::Asked;

namespace {

std::int64_t trained(const std::string& words) {
  return program::count_parameters(Asked("--framework hf " + words).program).trainable;
}

const std::string short_llama = "--model llama-3-8b --seq 1k --micro-batch 2 ";
constexpr std::int64_t tokens = 2 * 1024, depth = 32, kv_width = 1024, ffn = 14336, width = 4096;

std::int64_t kept_by_layer(const std::string& words) {
  return in_bytes(memory::walk_block(Asked("--framework hf " + short_llama + words).program.blocks[1], {}).kept);
}

/// What a frozen model keeps for the gradients of its activations alone: a prompt of one position changes little else.
/// \param kv  width of keys and values before the kernel
std::int64_t frozen_layer(std::int64_t rows, std::int64_t kv = kv_width) {
  const std::int64_t per_token = 8 * width + 4 * width + 4 * kv + 6 * ffn + 4 * 32 + 8;  // executed with hooks
  return rows * per_token;
}

}  // namespace

TEST_CASE("trained parameters equal what peft prints") {
  // peft documentation, prompt-based methods: bloomz-560m, 20 virtual tokens of prefix, 8 of prompt tuning.
  const std::string bloomz =
      "--layers 24 --hidden 1024 --heads 16 --vocab 250880 --mlp gelu --norm layernorm "
      "--position alibi --bias all --tied 1 ";
  CHECK(trained(bloomz + "--method prefix --virtual-tokens 20") == 983'040);
  CHECK(trained(bloomz + "--method prompt --virtual-tokens 8") == 8'192);
  // peft documentation, IA3: mt0-large, a T5 v1.1 large with the vocabulary of mT5.
  CHECK(trained("--model flan-t5-large --vocab 250112 --method ia3") == 282'624);
  // The same model with LoRA of rank 8 on q and v: peft README.
  CHECK(trained("--model flan-t5-large --vocab 250112 --method lora --lora-rank 8 --lora-targets q,v") == 2'359'296);
  // peft documentation, AdaLoRA: ViT-base, 520,325 with a classifier of 768 x 101 + 101.
  const std::string vit =
      "--layers 12 --hidden 768 --heads 12 --vocab 1000 --mlp gelu --norm layernorm "
      "--position learned --bias all ";
  CHECK(trained(vit + "--method adalora --lora-targets q,v") == 520'325 - (768 * 101 + 101));
  // The model's own code (modeling_chatglm.py): query_key_value, dense, dense_h_to_4h for gate and up, dense_4h_to_h.
  constexpr std::int64_t a_layer = (4096 + 4608) + (4096 + 4096) + (4096 + 2 * 13696) + (13696 + 4096);
  CHECK(trained("--model glm-4-9b-chat --method lora --lora-rank 8 --lora-targets all-linear") == 40 * 8 * a_layer);
}

TEST_CASE("bottleneck adapters have 2md + d + m parameters each (Houlsby et al. 2019 section 2.1)") {
  CHECK(trained(short_llama + "--method adapter") == 2 * depth * (2 * 64 * width + width + 64));
  CHECK(trained(short_llama + "--method adapter --adapter-width 8") == 2 * depth * (2 * 8 * width + width + 8));
}

TEST_CASE("(IA)3 has a vector for keys, values and the MLP's inner activation of each layer") {
  CHECK(trained(short_llama + "--method ia3") == depth * (kv_width + kv_width + ffn));
}

TEST_CASE("prefixes have the width of the keys, grouped or not") {
  CHECK(trained(short_llama + "--method prefix") == 2 * depth * 20 * kv_width);
}

TEST_CASE("a layer under prompt tuning keeps what a frozen layer keeps, for the prompt's positions too") {
  CHECK(kept_by_layer("--method prompt --virtual-tokens 24") == frozen_layer(tokens + 2 * 24));
}

TEST_CASE("prefixes lengthen keys and values, which are expanded to all heads") {
  CHECK(kept_by_layer("--method prefix --virtual-tokens 24") == frozen_layer(tokens, width) + 2 * 2 * width * 2 * 24);
}

TEST_CASE("(IA)3 keeps what it rescales: keys, values and the inner activation in fp32") {
  CHECK(kept_by_layer("--method ia3") == frozen_layer(tokens) + tokens * (2 * 2 * kv_width + 4 * ffn));
}

/// Storages that are alive behind a layer in bf16 with adapters in fp32, when peft 0.15.2 has run on
/// transformers 4.52.4 and torch 2.7.1: without keys and values for a cache, and a mask of dropout of one byte, as CUDA
/// has it.
TEST_CASE("a layer under adapters keeps what transformers and peft keep, to the byte") {
  const std::string release = "--framework-version transformers 4.52.4 --dtype bf16 ";
  const std::string lora = release + "--method lora --lora-rank 16 --lora-targets ";
  CHECK(kept_by_layer(lora + "q,v --lora-dropout 0") == 378'028'032);
  CHECK(kept_by_layer(lora + "q,v --lora-dropout 0.05") == 394'805'248);
  CHECK(kept_by_layer(lora + "all-linear --lora-dropout 0") == 630'341'632);
  const std::string dora = release + "--method dora --lora-rank 16 --lora-targets q,v ";
  CHECK(kept_by_layer(dora + "--lora-dropout 0") == 440'942'592);
  CHECK(kept_by_layer(dora + "--lora-dropout 0.05") == 562'577'408);
}

/// Executed with hooks on the CPU: transformers 5.17, peft 0.21.1, bitsandbytes 0.50.2, torch 2.11. Under autocast each
/// adapter has its own 16-bit copy of the input, and what 4-bit matrices make between two norms is fp32 all the same.
TEST_CASE("a layer of 4-bit matrices beside norms in fp32 keeps what transformers, peft and bitsandbytes keep") {
  const std::string prepared =
      "--method qlora --weights nf4 --unquantized fp32 --lora-targets all-linear --lora-rank 8 --lora-dropout 0 "
      "--attention flash --recompute none ";
  constexpr std::int64_t ranks = 7 * 8, statistics = 4 * 32 + 2 * 4;
  const std::int64_t plain = 4 * (6 * width + 2 * kv_width + 4 * ffn + ranks) + statistics;
  CHECK(kept_by_layer(prepared + "--autocast 0") == tokens * plain);
  const std::int64_t narrowed = 2 * (7 * width + 2 * kv_width + ffn + ranks) + 4 * (2 * width + 3 * ffn) + statistics;
  CHECK(kept_by_layer(prepared + "--autocast 1") == tokens * narrowed);
}

/// transformers integrations/bitsandbytes.py leaves table and head alone, which peft then widens with the norms.
TEST_CASE("what is not quantized rests as wide as it is said, or as the recipe leaves it") {
  const auto beside = [](const std::string& words) {
    const Asked asked("--model llama-3-8b --method qlora --weights nf4 " + words);
    return formats::facts(asked.program.blocks[0].weights[0].dtype).bits / 8;
  };
  CHECK(beside("--framework hf") == 4);
  CHECK(beside("--framework hf --dtype bf16") == 2);
  CHECK(beside("--framework hf --dtype bf16 --unquantized fp32") == 4);
  CHECK(beside("--framework hf --dtype mixed-bf16 --unquantized bf16") == 2);
  CHECK(beside("--framework trl") == 2);
  CHECK(beside("--framework trl --dtype mixed-bf16") == 4);
  CHECK(beside("--framework axolotl") == 2);
  CHECK(beside("--framework unsloth") == 2);
}

/// peft tuners/lora/dora.py: the unit matrix, B A, its scaled copy and the sum, with W widened for adapters in fp32.
TEST_CASE("DoRA's norm needs five matrices of W's size for an instant, four where W is as wide as its adapters") {
  const auto instant = [](const std::string& words) {
    const Asked asked("--framework hf --method dora --lora-targets q " + short_llama + words);
    const auto& ops = asked.program.blocks[1].ops;
    return in_bytes(std::ranges::find(ops, "norm of direction", &layers::Op::name)->workspace_forward);
  };
  CHECK(instant("") == 5 * 4 * width * width);
  CHECK(instant("--grads bf16") == 4 * 2 * width * width);
}

TEST_CASE("prefixes are attended to by every position") {
  const auto forward = [](const std::string& words) {
    return in_flops(program::count_work(Asked(short_llama + words).program).forward);
  };
  const double extra = forward("--method prefix --virtual-tokens 24") - forward("--method ia3");
  CHECK(extra == Approx(4.0 * tokens * 24 * width * depth).epsilon(1e-6));
}

TEST_CASE("AdaLoRA keeps three scores of each parameter beside AdamW's moments") {
  const auto states = Asked(short_llama + "--framework hf --method adalora").states();
  const auto size = program::count_parameters(Asked(short_llama + "--framework hf --method adalora").program);
  CHECK(in_bytes(states.optimizer) == size.trainable * (8 + 3 * 4));
}

// torch/distributed/fsdp/_runtime_utils.py, _register_post_backward_reshard_only_hook, holds the input of each frozen
// layer and its gradient until all backward passes have run; FSDP2 and DeepSpeed save no tensor there.
TEST_CASE("the inputs of checkpointed frozen layers wait under FSDP1 alone") {
  const auto last_layer_back = [](const std::string& sharding) {
    const Asked run("--framework hf --method lora --recompute full --dp 4 --sharding " + sharding + " " + short_llama);
    const auto points = memory::StepWalk(run.program, run.question, run.profile).timeline(0);
    const auto at = std::ranges::find_if(
        points, [](const auto& p) { return p.phase == memory::Phase::backward && p.position == 1; });
    return in_bytes(at->allocated());
  };
  const std::int64_t of_a_layer = 2 * 2 * tokens * width;  // input and gradient, in 16 bits
  CHECK(last_layer_back("fsdp1") - last_layer_back("fsdp2") >= (depth - 2) * of_a_layer);
  CHECK(last_layer_back("zero3") <= last_layer_back("fsdp2"));
}
