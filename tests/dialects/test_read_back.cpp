// A command that the program prints for a framework, read back with --from, asks for the same run.

#include "../answer/asking.hpp"
#include "catch.hpp"
#include "dialects/launch.hpp"
#include "dialects/reading.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/resolve.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace llmcalc;

namespace {

/// \param further  options beside the file: what its framework does not say
spec::Question read_back(const std::string& line, std::string_view framework, std::vector<read::Given> further) {
  const auto all = dialects::launches(test::question(line));
  std::string command = std::ranges::find(all, framework, &dialects::Launch::framework)->command;
  constexpr std::string_view data = "$DATA";  // a data set that is named, as nothing is executed to know it
  if (const auto at = command.find(data); at != std::string::npos) command.replace(at, data.size(), "data");
  CAPTURE(command);
  // The files that a command needs it writes itself.
  const dialects::FindFile nothing = [](const std::string&) { return std::optional<dialects::NamedFile>(); };
  const auto reading = dialects::read_launch_command(command, "command", nothing);
  CHECK(reading.unread.empty());
  return read::resolve(with_options(reading, further), std::nullopt, read::Catalogue()).question;
}

read::Given option(std::string term, std::string text) {
  return {term, std::move(text), {read::Source::flag, "--" + term}};
}

void check_same_layout(const spec::Layout& a, const spec::Layout& b) {
  CHECK(a.gpus == b.gpus);
  CHECK(a.nodes == b.nodes);
  CHECK(a.dp == b.dp);
  CHECK(a.tp == b.tp);
  CHECK(a.sp == b.sp);
  CHECK(a.pp == b.pp);
  CHECK(a.cp == b.cp);
  CHECK(a.ep == b.ep);
  CHECK(a.etp == b.etp);
}

void check_same_batch(const spec::Training& a, const spec::Training& b) {
  CHECK(a.seq == b.seq);
  CHECK(a.micro_batch == b.micro_batch);
  CHECK(a.global_batch == b.global_batch);
}

}  // namespace

TEST_CASE("Megatron-LM's command read back is the same run of the same model") {
  for (const std::string line : {
           "--model llama-3-8b --framework megatron --gpu h100-sxm:8 --sharding zero1 --seq 4096 --dtype bf16",
           "--model llama-3-70b --framework megatron --gpu h100-sxm:64 --tp 8 --sp 1 --pp 4 --grad-accum 8 "
           "--sharding zero1 --seq 8192 --dtype bf16 --recompute full",
           "--model mixtral-8x7b --framework megatron --gpu h100-sxm:8 --tp 4 --etp 1 --ep 1 --sharding zero1 --seq "
           "4096 "
           "--dtype bf16",
           "--model mixtral-8x7b --framework megatron --gpu h100-sxm:8 --tp 2 --etp 2 --ep 4 --sharding zero1 --seq "
           "4096 "
           "--dtype bf16",
           "--model gpt3-175b --framework megatron --gpu a100-80:64 --tp 8 --sp 1 --pp 8 --vpp 3 --grad-accum 64 "
           "--recompute selective --sharding zero1 --seq 2048 --dtype bf16",
       }) {
    CAPTURE(line);
    const auto asked = test::question(line);
    const auto vocabulary = std::to_string(asked.model.shape.vocab);  // the arguments name a tokenizer instead
    const auto read = read_back(line, "Megatron-LM", {option("gpu", asked.gpu->id), option("vocab", vocabulary)});
    check_same_layout(read.layout, asked.layout);
    CHECK(read.layout.vpp == asked.layout.vpp);
    CHECK(read.layout.sharding == asked.layout.sharding);
    check_same_batch(read.training, asked.training);
    CHECK(read.training.recompute.policy == asked.training.recompute.policy);
    CHECK(read.model.shape.layers == asked.model.shape.layers);
    CHECK(read.model.shape.hidden == asked.model.shape.hidden);
    CHECK(read.model.shape.kv_heads == asked.model.shape.kv_heads);
    CHECK(read.model.shape.ffn == asked.model.shape.ffn);
    CHECK(read.model.shape.mlp == asked.model.shape.mlp);
    CHECK(read.model.shape.tied == asked.model.shape.tied);
    CHECK(read.training.precision.weights == asked.training.precision.weights);
  }
}

TEST_CASE("torchtitan's command read back is the same run") {
  for (const std::string line : {
           "--model llama-3-8b --framework torchtitan --gpu h100-sxm:8 --sharding fsdp2 --seq 4096 --recompute full",
           "--model llama-3-70b --framework torchtitan --gpu h100-sxm:64 --tp 4 --sp 1 --sharding fsdp2 --seq 8192",
           "--model llama-3-70b --framework torchtitan --gpu h100-sxm:64 --tp 2 --sp 1 --cp 4 --pp 2 --grad-accum 4 "
           "--sharding fsdp2 --micro-batch 2 --seq 8192",
       }) {
    CAPTURE(line);
    const auto asked = test::question(line);
    const auto read =
        read_back(line, "torchtitan", {option("model", asked.model.shape.name), option("gpu", asked.gpu->id)});
    check_same_layout(read.layout, asked.layout);
    CHECK(read.layout.sharding == asked.layout.sharding);
    check_same_batch(read.training, asked.training);
    CHECK(read.training.recompute.policy == asked.training.recompute.policy);
  }
}

TEST_CASE("DeepSpeed's command with its file read back is the same run") {
  for (const std::string line : {
           "--model llama-3-8b --framework deepspeed --gpu h100-sxm:8 --sharding zero3 --dtype bf16",
           "--model llama-3-8b --framework deepspeed --gpu a100-80:16 --sharding zero2 --offload optimizer --dtype "
           "fp16 "
           "--micro-batch 2 --grad-accum 4",
       }) {
    CAPTURE(line);
    const auto asked = test::question(line);
    const auto read =
        read_back(line, "DeepSpeed", {option("model", asked.model.shape.name), option("gpu", asked.gpu->id)});
    check_same_layout(read.layout, asked.layout);
    CHECK(read.layout.sharding == asked.layout.sharding);
    CHECK(read.training.offload == asked.training.offload);
    check_same_batch(read.training, asked.training);
    CHECK(read.training.precision.weights == asked.training.precision.weights);
    CHECK(read.training.precision.master == asked.training.precision.master);
  }
}

TEST_CASE("the commands of fine-tuning read back are the same run") {
  for (const std::string name : {"trl", "axolotl", "LLaMA-Factory", "ms-swift"}) {
    const std::string framework = name == "LLaMA-Factory" ? "llama-factory" : name;
    for (const std::string options : {
             "--method qlora --lora-rank 32 --seq 4096 --micro-batch 2 --grad-accum 8 --recompute full",
             "--method lora --lora-rank 8 --seq 2048 --micro-batch 1 --recompute none --optimizer adamw-8bit",
             "--method lora --lora-rank 8 --lora-targets q,v --seq 2048 --micro-batch 1 --recompute full",
             "--method full --seq 1024 --micro-batch 4 --recompute full --optimizer paged-adamw-8bit",
         }) {
      const std::string line = "--model llama-3-8b --gpu a100-80 --dtype bf16 --framework " + framework + " " + options;
      CAPTURE(line);
      const auto asked = test::question(line);
      const auto read = read_back(line, name, {option("model", "llama-3-8b"), option("gpu", asked.gpu->id)});
      check_same_layout(read.layout, asked.layout);
      check_same_batch(read.training, asked.training);
      CHECK(read.training.framework == asked.training.framework);
      CHECK(read.training.method == asked.training.method);
      CHECK(read.training.optimizer == asked.training.optimizer);
      CHECK(read.training.recompute.policy == asked.training.recompute.policy);
      if (asked.training.method != spec::Method::full) {
        CHECK(read.training.adapter.rank == asked.training.adapter.rank);
        CHECK(read.training.adapter.targets == asked.training.adapter.targets);
      }
    }
  }
}

TEST_CASE("what unsloth's program says is suggested, since nothing executes it") {
  const std::string line =
      "--model llama-3-8b --gpu rtx-4090 --framework unsloth --method qlora --lora-rank 16 --seq 4096 --micro-batch 2";
  const std::string program =
      "from unsloth import FastLanguageModel\n" + dialects::launches(test::question(line))[0].command;
  const dialects::FindFile nothing = [](const std::string&) { return std::optional<dialects::NamedFile>(); };
  try {
    dialects::read_launch_file(program, "train.py", nothing);
    FAIL("a program was read");
  } catch (const quantity::BadInput& error) {
    CHECK(error.hint() ==
          "perhaps llmcalc fit --framework unsloth --model NAME --method qlora --lora-rank 16 --seq 4096 "
          "--micro-batch 2 --grad-accum 2 --gpu NAME");
  }
}
