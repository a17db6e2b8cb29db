// Whatever a trainer's files and options say of a run, read back they say the same run; what they cannot say is named.
#include "../answer/asking.hpp"
#include "catch.hpp"
#include "dialects/launch.hpp"
#include "dialects/read_back.hpp"
#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "read/resolve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace llmcalc;

namespace {

/// Every dialect that prints a launch, and how many of the runs below it can say.
struct Dialect {
  std::string framework;
  std::size_t says;  ///< at least
};
const Dialect dialects_of_trainers[] = {{"megatron", 66},       {"torchtitan", 24}, {"deepspeed", 240},
                                        {"trl", 396},           {"hf", 90},         {"axolotl", 396},
                                        {"llama-factory", 333}, {"unsloth", 27},    {"ms-swift", 324},
                                        {"litgpt", 7},          {"torchtune", 54},  {"lightning", 28}};

/// What no key of a trainer says, by the beginning of the option: of a run without a launch one of them is named.
struct Unsayable {
  std::vector<std::string> frameworks;
  std::vector<std::string> options;
  std::string_view why;
};
const std::vector<std::string> trainers{"deepspeed", "trl", "hf", "axolotl", "llama-factory", "unsloth", "ms-swift"};
const std::vector<Unsayable> unsayable{
    {{"megatron", "torchtitan", "deepspeed", "trl", "hf", "axolotl", "llama-factory", "unsloth", "ms-swift", "litgpt",
      "torchtune", "lightning"},
     {"--sharding none", "--sharding ddp"},
     "a launcher of several processes makes replicas, and of one none"},
    {trainers,
     {"--recompute selective"},
     "transformers modeling_utils.py, gradient_checkpointing_enable: whole layers"},
    {trainers,
     {"--offload optimizer", "--offload params"},
     "accelerate utils/dataclasses.py, FullyShardedDataParallelPlugin.cpu_offload: both or none; replicas move "
     "nothing"},
    {{"trl", "hf"},
     {"--framework"},
     "a script of theirs is DeepSpeed's where it has a file of it, and trl's where it offloads activations"},
    {{"unsloth"}, {"--sharding fsdp2", "--offload activations"}, "unsloth_cli/config.py: neither key"},
    {{"ms-swift"}, {"--offload activations"}, "swift/callbacks/activation_cpu_offload.py: under FSDP alone"},
    {{"megatron"},
     {"--offload activations", "--sharding fsdp2", "--sharding hsdp"},
     "megatron/training/arguments.py: activations of single modules, and FSDP of its own"},
    {{"torchtitan"},
     {"--lora-rank", "--offload params", "--sharding fsdp1", "--sharding hsdp", "--sharding-group"},
     "torchtitan config/configs.py: no adapters, fully_shard alone, and replicas of a group that is said"},
    {{"litgpt"},
     {"--recompute", "--sharding fsdp1", "--sharding fsdp2", "--sharding hsdp"},
     "litgpt finetune/full.py: FSDP and its checkpointing on several devices, nothing on one"},
    {{"litgpt"}, {"command --quantize"}, "litgpt finetune/lora.py, setup: quantized models on one device"},
    {{"torchtune"},
     {"--recompute selective", "--sharding fsdp", "--offload params"},
     "torchtune training/activations.py: whole layers; fully_shard on several devices alone"},
    {{"lightning"},
     {"--lora-rank", "--recompute", "--offload", "--sharding fsdp2", "--sharding hsdp"},
     "lightning strategies/strategy_registry.py: what strategies are called by name"}};

bool names_unsayable(const std::string& framework, const std::vector<std::string>& beyond) {
  return std::ranges::any_of(unsayable, [&](const Unsayable& row) {
    const auto is_it = [&](const std::string& option) {
      return std::ranges::any_of(row.options, [&](const std::string& each) { return option.starts_with(each); });
    };
    return quantity::contains(row.frameworks, framework) && std::ranges::any_of(beyond, is_it);
  });
}

/// Adapters are not printed for the example of transformers, which has no options of them.
bool has_no_program(const spec::Question& question) {
  return question.training.framework == spec::Framework::hf && question.training.method != spec::Method::full;
}

/// Runs on so many GPUs that the framework can do at all.
std::vector<spec::Question> questions_of(const std::string& framework, int gpus) {
  std::vector<spec::Question> questions;
  for (const std::string method : {"full", "lora", "qlora"})
    for (const std::string sharding : {"none", "ddp", "zero1", "zero2", "zero3", "fsdp1", "fsdp2", "hsdp"})
      for (const std::string recompute : {"none", "selective", "full"})
        for (const std::string offload : {"none", "optimizer", "params", "params+optimizer", "activations"}) {
          const auto line = fmt::format(
              "--model llama-3-8b --framework {} --method {} --gpu h100-sxm:{} --sharding {} --recompute {} "
              "--offload {} --seq 2048 --micro-batch 2 --grad-accum 4",
              framework, method, gpus, sharding, recompute, offload);
          try {
            questions.push_back(test::question(line));
          } catch (const quantity::BadInput&) {
            continue;  // what the framework does not do is refused by name
          }
        }
  return questions;
}

struct Count {
  std::size_t asked = 0, said = 0;
};

/// Asks each run on so many GPUs, and counts those with a launch that says them.
Count read_all_back(const std::string& framework, int gpus) {
  CAPTURE(framework, gpus);
  const auto questions = questions_of(framework, gpus);
  Count count{questions.size(), 0};
  for (const auto& question : questions) {
    const auto launches = dialects::launches(question);
    CHECK(launches.empty() == has_no_program(question));
    for (const auto& [name, command, beyond] : launches) {
      CHECK(command.empty() != beyond.empty());
      CAPTURE(command, beyond);
      if (command.empty()) {
        CHECK(names_unsayable(framework, beyond));
        continue;
      }
      const auto asked = answer::estimate(question);
      const auto again = answer::estimate(test::read_back(command, question));
      CHECK(again.memory.peak_needed == asked.memory.peak_needed);
      CHECK(again.compute.step == asked.compute.step);
      ++count.said;
    }
  }
  return count;
}

}  // namespace

TEST_CASE("a launch read back takes the bytes and seconds of the run that it was printed for", "[long]") {
  Count of_all;
  for (const auto& [framework, says] : dialects_of_trainers) {
    Count count;
    for (const int gpus : {1, 8, 16}) {
      const auto [asked, said] = read_all_back(framework, gpus);
      count = {count.asked + asked, count.said + said};
    }
    CHECK(count.said >= says);
    of_all = {of_all.asked + count.asked, of_all.said + count.said};
  }
  WARN(of_all.asked << " runs asked, of which " << of_all.said << " have a launch that says them");
}

namespace {

/// Those that have a case of their own, so that none takes long.
const std::vector<std::vector<std::string>> cases_of_trainers{
    {"megatron", "torchtitan", "deepspeed"}, {"hf", "trl"}, {"axolotl"}, {"llama-factory", "unsloth"}};

void read_back_of_one_machine(const std::vector<std::string>& frameworks) {
  for (const auto& framework : frameworks) {
    CAPTURE(framework);
    CHECK(read_all_back(framework, 8).said > 0);
  }
}

}  // namespace

TEST_CASE("a launch of Megatron-LM, torchtitan or DeepSpeed for one machine of eight is read back as it was asked") {
  read_back_of_one_machine(cases_of_trainers[0]);
}

TEST_CASE(
    "what Megatron-LM's options alone say of types, recomputation and further tokens is read back as it was asked") {
  for (const std::string more :
       {"--compute fp8-e4m3", "--compute mxfp8", "--compute nvfp4", "--recompute block-4", "--recompute uniform-2",
        "--recompute selective --recompute-modules mlp", "--model deepseek-v3 --mtp-num-layers 1",
        "--model deepseek-v3 --mtp-num-layers 2 --mtp-use-repeated-layer 1",
        "--model deepseek-v3 --recompute selective --recompute-modules mla_up_proj,moe_act"}) {
    const auto question =
        test::question("--model llama-3-8b --framework megatron --gpu b200-sxm:8 --seq 2048 --grad-accum 4 " + more);
    const auto launches = dialects::launches(question);
    REQUIRE(launches.size() == 1);
    CAPTURE(more, launches[0].command, launches[0].beyond);
    REQUIRE_FALSE(launches[0].command.empty());
    const auto asked = answer::estimate(question);
    const auto again = answer::estimate(test::read_back(launches[0].command, question));
    CHECK(again.memory.peak_needed == asked.memory.peak_needed);
    CHECK(again.compute.step == asked.compute.step);
  }
}

TEST_CASE("a launch of transformers' or trl's for one machine of eight is read back as it was asked") {
  read_back_of_one_machine(cases_of_trainers[1]);
}

TEST_CASE("a launch of axolotl for one machine of eight is read back as it was asked") {
  read_back_of_one_machine(cases_of_trainers[2]);
}

TEST_CASE("a launch of LLaMA-Factory or Unsloth for one machine of eight is read back as it was asked") {
  read_back_of_one_machine(cases_of_trainers[3]);
}

TEST_CASE("a launch of every other trainer for one machine of eight is read back as it was asked") {
  std::vector<std::string> others;
  for (const auto& [framework, says] : dialects_of_trainers) {
    const auto has = [&framework = framework](const auto& each) { return std::ranges::count(each, framework) > 0; };
    if (std::ranges::none_of(cases_of_trainers, has)) others.emplace_back(framework);
  }
  CHECK(others.size() == 4);
  read_back_of_one_machine(others);
}

namespace {

/// Where one option or key of a launch begins and ends: "--name" with its value, a line "key: value" of a file.
struct Piece {
  std::size_t at;
  std::size_t size;
};

/// Each with its values, which end before the next option or a program.
std::vector<Piece> options_in(const std::string& command) {
  constexpr std::string_view blank = " \n";
  std::vector<Piece> pieces;
  for (auto at = command.find(" --"); at != command.npos; at = command.find(" --", at + 1)) {
    auto end = std::min(command.find_first_of(blank, at + 1), command.size());
    while (end < command.size() && command[end] == ' ') {
      const auto next = std::min(command.find_first_of(blank, end + 1), command.size());
      const auto word = std::string_view(command).substr(end + 1, next - end - 1);
      if (word.starts_with('-') || word == "\\" || word.ends_with(".py")) break;
      end = next;
    }
    pieces.push_back({at, end - at});
  }
  return pieces;
}

/// Lines of a file in the command that hold a scalar: no other depends on them.
std::vector<Piece> keys_in(const std::string& command) {
  std::vector<Piece> pieces;
  for (std::size_t at = command.find('\n'); at != command.npos; at = command.find('\n', at + 1)) {
    const auto end = std::min(command.find('\n', at + 1), command.size());
    const auto line = std::string_view(command).substr(at, end - at);
    const bool is_scalar = line.find(": ") != line.npos && line.find_first_of("{}[]\"") == line.npos;
    if (is_scalar) pieces.push_back({at, line.size()});
  }
  return pieces;
}

}  // namespace

namespace {

/// What is wrong with a reading: nothing, or an error that blames no key that still stands there.
std::string blamed_without_reason(const std::string& command, const spec::Question& asked) {
  try {
    test::read_back(command, asked);
  } catch (const quantity::BadInput& error) {
    const bool is_known = error.problem().find("starts no trainer") == std::string::npos;  // what tells it was taken
    if (is_known && error.place() == "command") return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a launch without any one of its options and keys is read, or a key that contradicts is named") {
  std::size_t asked = 0;
  for (const auto& [framework, says] : dialects_of_trainers) {
    for (const std::string method : {"full", "lora", "qlora"}) {
      for (const int gpus : {1, 8}) {
        const auto line = fmt::format(
            "--model llama-3-8b --framework {} --method {} --gpu h100-sxm:{} --seq 2048 --micro-batch 2 --grad-accum 4",
            framework, method, gpus);
        std::optional<spec::Question> question;
        try {
          question = test::question(line);
        } catch (const quantity::BadInput&) {
          continue;  // what the framework does not do is refused by name
        }
        for (const auto& launch : dialects::launches(*question)) {
          auto pieces = options_in(launch.command);
          quantity::append(pieces, keys_in(launch.command));
          for (const auto& [at, size] : pieces) {
            auto command = launch.command;
            command.erase(at, size);
            CAPTURE(framework, method, gpus, launch.command.substr(at, size), command);
            CHECK(blamed_without_reason(command, *question) == "");
            ++asked;
          }
        }
      }
    }
  }
  CHECK(asked > 300);
}
