// Command lines of a run, read back.

#include "../answer/asking.hpp"
#include "catch.hpp"
#include "dialects/launch.hpp"

#include <nlohmann/json.hpp>

#include <span>
#include <string>

using namespace llmcalc;
using Catch::Matchers::Contains;

namespace {

dialects::Launch launched(std::string_view line, std::string_view framework) {
  const auto all = dialects::launches(test::question(std::string(line) + " --framework " + std::string(framework)));
  REQUIRE(all.size() == 1);
  return all.front();
}

/// The number behind an option; 1, the default of every degree, where it is not there.
std::int64_t degree(const std::string& command, const std::string& option) {
  const auto at = command.find(option + " ");
  return at == std::string::npos ? 1 : std::stoll(command.substr(at + option.size()));
}

constexpr std::string_view runs[] = {
    "--model llama-3-8b --gpu h100-sxm:8",
    "--model llama-3-70b --gpu h100-sxm:64 --tp 8 --sp 1 --pp 4 --grad-accum 8",
    "--model llama-3-70b --gpu h100-sxm:64 --tp 2 --cp 4 --pp 2 --grad-accum 4 --micro-batch 2",
    "--model mixtral-8x7b --gpu h100-sxm:32 --ep 8 --pp 2 --grad-accum 4",
    "--model gpt3-175b --gpu a100-80:64 --tp 8 --sp 1 --pp 8 --vpp 3 --grad-accum 64 --recompute selective",
};

}  // namespace

/// parallel_dims.py, _validate: dp_replicate * dp_shard * cp * tp * pp == world_size.
TEST_CASE("torchtitan's degrees multiply to the accelerators of the run") {
  for (const auto line : std::span(runs).first(3)) {
    CAPTURE(line);
    const std::string command = launched(std::string(line) + " --sharding fsdp2", "torchtitan").command;
    std::int64_t world = 1;
    for (const std::string name : {"data_parallel_replicate", "data_parallel_shard", "context_parallel",
                                   "tensor_parallel", "pipeline_parallel"}) {
      world *= degree(command, "--parallelism." + name + "_degree");
    }
    CHECK(world == test::question(line).layout.gpus);
  }
}

/// arguments.py, validate_args: the world is a multiple of tp x pp x cp, and what is left of it are the replicas, which
/// share the global batch.
TEST_CASE("Megatron-LM's batch is what its replicas share") {
  for (const auto line : runs) {
    CAPTURE(line);
    const auto question = test::question(line);
    const std::string command = launched(std::string(line) + " --sharding zero1", "megatron").command;
    const std::int64_t model = degree(command, "--tensor-model-parallel-size") *
                               degree(command, "--pipeline-model-parallel-size") *
                               degree(command, "--context-parallel-size");
    const std::int64_t replicas = question.layout.gpus / model;
    CHECK(degree(command, "--global-batch-size") ==
          replicas * degree(command, "--micro-batch-size") * question.training.grad_accum);
    CHECK(degree(command, "--nnodes") * degree(command, "--nproc-per-node") == question.layout.gpus);
  }
}

TEST_CASE("Megatron-LM's command for the 175B run of Korthikanti et al. 2022") {
  const auto megatron = launched(std::string(runs[4]) + " --sharding zero1", "megatron");
  CHECK(degree(megatron.command, "--num-layers") == 96);
  CHECK(degree(megatron.command, "--hidden-size") == 12288);
  CHECK_THAT(megatron.command, Contains("--sequence-parallel"));
  CHECK_THAT(megatron.command, Contains("--num-virtual-stages-per-pipeline-rank 3"));
  CHECK_THAT(megatron.command, Contains("--recompute-granularity selective"));
  CHECK(megatron.beyond.empty());
}

/// runtime/config.py, _batch_assertion: train_batch = micro_batch * gradient_accumulation * data-parallel ranks.
TEST_CASE("DeepSpeed's configuration is JSON whose batch adds up") {
  for (const std::string line :
       {"--model llama-3-8b --gpu h100-sxm:8 --sharding zero3",
        "--model llama-3-70b --gpu h100-sxm:64 --sharding zero2 --offload optimizer --micro-batch 2 --grad-accum 4"}) {
    CAPTURE(line);
    const auto question = test::question(line + " --framework deepspeed");
    const std::string command = launched(line, "deepspeed").command;
    const auto start = command.find('{');
    const auto end = command.find("END\n", start);
    const auto config = nlohmann::json::parse(command.substr(start, end - start));
    CHECK(config.at("train_batch_size").get<std::int64_t>() ==
          config.at("train_micro_batch_size_per_gpu").get<std::int64_t>() *
              config.at("gradient_accumulation_steps").get<std::int64_t>() * question.layout.dp);
    CHECK(config.at("zero_optimization").contains("stage"));
  }
}

TEST_CASE("Megatron-LM's words for latent attention are those of DeepSeek-V3") {
  const std::string command = launched("--model deepseek-v3 --gpu h800-sxm:256 --ep 32", "megatron").command;
  // DeepSeek-AI 2024, arXiv:2412.19437 section 4.2: 1,536 and 512, heads of 128 + 64 and 128; 256 experts, 8 a token.
  CHECK(degree(command, "--q-lora-rank") == 1536);
  CHECK(degree(command, "--kv-lora-rank") == 512);
  CHECK(degree(command, "--qk-head-dim") == 128);
  CHECK(degree(command, "--qk-pos-emb-head-dim") == 64);
  CHECK(degree(command, "--num-experts") == 256);
  CHECK(degree(command, "--moe-router-topk") == 8);
}

TEST_CASE("the command is that of the framework that was asked for") {
  const std::string run = "--model llama-3-8b --method qlora --lora-rank 16 --gpu rtx-4090 --framework ";
  const auto trl = dialects::launches(test::question(run + "trl"));
  REQUIRE(trl.size() == 1);
  CHECK(trl[0].framework == "TRL");
  CHECK_THAT(trl[0].command, Contains("--load_in_4bit"));
  CHECK(degree(trl[0].command, "--lora_r") == 16);
  const auto axolotl = dialects::launches(test::question(run + "axolotl"));
  REQUIRE(axolotl.size() == 1);
  CHECK_THAT(axolotl[0].command, Contains("adapter: qlora") && Contains("lora_r: 16"));
  const auto unsloth = dialects::launches(test::question(run + "unsloth"));
  REQUIRE(unsloth.size() == 1);
  CHECK_THAT(unsloth[0].command, Contains("--load-in-4bit"));
}

TEST_CASE("what a framework's files and options cannot say has no command") {
  for (const std::string run :
       {"--framework torchtitan --method lora", "--framework deepspeed --sharding zero2 --recompute selective",
        "--framework trl --method full --sharding fsdp2 --offload params"}) {
    CAPTURE(run);
    const auto all = dialects::launches(test::question("--model llama-3-8b --gpu h100-sxm:8 " + run));
    REQUIRE(all.size() == 1);
    CHECK(all[0].command.empty());
    CHECK_FALSE(all[0].beyond.empty());
  }
}
