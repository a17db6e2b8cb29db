// Every key that a printed command or file says is one that its trainer documents, as the packages have them.
#include "../answer/asking.hpp"
#include "catch.hpp"
#include "dialects/launch.hpp"
#include "llmcalc/quantity/error.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace llmcalc;
using Catch::Matchers::Contains;

namespace {

using Keys = std::set<std::string, std::less<>>;

/// Of transformers 5.23.0, training_args.py, which trl, LLaMA-Factory, axolotl and ms-swift take over.
const Keys arguments_of_transformers{"per_device_train_batch_size",
                                     "gradient_accumulation_steps",
                                     "gradient_checkpointing",
                                     "optim",
                                     "bf16",
                                     "fp16",
                                     "torch_compile",
                                     "use_liger_kernel",
                                     "attn_implementation",
                                     "fsdp",
                                     "fsdp_config",
                                     "do_train"};

struct Trainer {
  std::string framework;
  std::string source;
  Keys keys;
};

const std::vector<Trainer> trainers{
    {"trl",
     "trl 1.16.0: trainer/model_config.py, trainer/sft_config.py, scripts/utils.py (ScriptArguments)",
     {"model_name_or_path", "dataset_name", "max_length", "use_peft", "lora_r", "lora_target_modules", "load_in_4bit",
      "lora_dropout", "dtype", "use_bnb_nested_quant", "activation_offloading", "num_processes", "multi_gpu",
      "config_file", "compute_environment", "distributed_type", "num_machines", "mixed_precision"}},
    {"axolotl",
     "axolotl 0.19.0: utils/schemas/{config,model,peft,training}.py",
     {"base_model", "sequence_len", "micro_batch_size", "optimizer", "adapter", "lora_r", "lora_target_linear",
      "lora_target_modules", "load_in_4bit", "lora_dropout", "fsdp_version", "num_processes", "multi_gpu"}},
    {"llama-factory",
     "llamafactory 0.9.5: hparams/{model,data,finetuning}_args.py",
     {"model_name_or_path", "stage", "finetuning_type", "lora_rank", "lora_target", "quantization_bit", "cutoff_len",
      "disable_gradient_checkpointing", "flash_attn", "lora_dropout", "pure_bf16", "enable_liger_kernel"}},
    {"ms-swift",
     "ms-swift 4.6.0: arguments/base_args, arguments/tuner_args.py",
     {"model", "dataset", "tuner_type", "lora_rank", "target_modules", "quant_method", "quant_bits", "max_length",
      "attn_impl", "lora_dropout", "config_file", "compute_environment", "distributed_type", "num_processes",
      "num_machines", "mixed_precision", "fsdp_config"}},
    {"litgpt",
     "litgpt 0.5.13: finetune/lora.py, finetune/full.py, args.py",
     {"precision", "devices", "num_nodes", "quantize", "lora_r", "lora_query", "lora_key", "lora_value",
      "lora_projection", "lora_mlp", "lora_head", "lora_dropout", "train.micro_batch_size", "train.global_batch_size",
      "train.max_seq_length"}},
    {"torchtune",
     "torchtune 0.6.1: recipes/configs/llama3_1/8B_lora_single_device.yaml, torchtune/_cli/run.py",
     {"config", "nproc_per_node", "batch_size", "gradient_accumulation_steps", "tokenizer.max_seq_len", "dtype",
      "enable_activation_checkpointing", "model.lora_rank", "model.apply_lora_to_mlp", "model.apply_lora_to_output",
      "model.lora_attn_modules", "model.lora_dropout", "model._component_", "optimizer._component_", "optimizer.fused",
      "compile"}},
    {"unsloth",
     "unsloth 2026.10.9: unsloth_cli/config.py",
     {"model", "dataset", "training_type", "max_seq_length", "load_in_4bit", "no_load_in_4bit", "batch_size",
      "gradient_accumulation_steps", "gradient_checkpointing", "lora_r", "lora_dropout", "target_modules", "nnodes",
      "nproc_per_node"}},
    {"lightning",
     "lightning 2.6.6: pytorch/trainer/trainer.py; what the program's own data takes",
     {"trainer.devices", "trainer.num_nodes", "trainer.strategy", "trainer.precision",
      "trainer.accumulate_grad_batches", "model.model_name", "data.batch_size", "data.seq_length"}},
};

bool is_of_key(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

/// "--key", "key: value" at the start of a line, and "key=value".
Keys keys_in(const std::string& command) {
  Keys keys;
  for (std::size_t at = 0; at < command.size();) {
    if (!is_of_key(command[at])) {
      ++at;
      continue;
    }
    auto end = at;
    while (end < command.size() && is_of_key(command[end])) ++end;
    const bool dashed = at >= 2 && command.compare(at - 2, 2, "--") == 0;
    const bool line = at == 0 || command[at - 1] == '\n';
    const bool yaml = line && end < command.size() && command[end] == ':';
    const bool assigned = end < command.size() && command[end] == '=' && std::islower(command[at]) != 0;
    while (dashed && end < command.size() && (is_of_key(command[end]) || command[end] == '-')) ++end;
    std::string key = command.substr(at, end - at);
    std::ranges::replace(key, '-', '_');
    if (dashed || yaml || assigned) keys.insert(std::move(key));
    at = end;
  }
  return keys;
}

constexpr std::string_view key_runs[] = {
    "--method qlora --lora-rank 16 --seq 4096 --recompute full", "--method lora --lora-targets q,v --recompute none",
    "--method full --recompute full", "--method full --gpus 8 --recompute full --optimizer adamw-8bit"};

}  // namespace

namespace {

dialects::Launch launched(const std::string& line) {
  const auto launches = dialects::launches(test::question(line));
  REQUIRE(launches.size() == 1);
  return launches[0];
}

/// A release of a trainer, or of a library below it, with the words that it lacks of those said today and those that it
/// has in their place, as the package of that release has them.
struct Earlier {
  std::string framework;
  std::string software;
  Keys lacks;
  Keys has;
};

const std::vector<Earlier> earlier{
    {"trl",
     "trl-0.12.1",
     {"max_length", "activation_offloading", "dtype", "trl.scripts.sft"},
     {"max_seq_length", "torch_dtype", "trl.commands.scripts.sft"}},
    {"trl", "trl-0.17.0", {"activation_offloading", "dtype"}, {"torch_dtype", "trl.scripts.sft"}},
    {"trl", "trl-0.22.2", {"dtype"}, {"torch_dtype", "activation_offloading"}},
    {"trl", "transformers-4.44.0", {"use_liger_kernel"}, {}},
    {"trl", "accelerate-1.5.2", {"fsdp_version", "fsdp_reshard_after_forward"}, {}},
    {"llama-factory", "llama-factory-0.8.3", {"enable_liger_kernel", "use_unsloth_gc"}, {}},
    {"ms-swift", "ms-swift-3.12.6", {"tuner_type"}, {"train_type"}},
    {"ms-swift", "ms-swift-2.6.1", {"model", "tuner_type", "train_type", "quant_bits"}, {}},
    {"litgpt", "litgpt-0.3.1", {"num_nodes", "finetune_lora", "finetune_full"}, {}},
    {"litgpt", "litgpt-0.4.2", {"num_nodes"}, {}},
    {"torchtune",
     "torchtune-0.2.1",
     {"tokenizer.max_seq_len", "model.lora_dropout", "enable_activation_offloading"},
     {}},
    {"torchtune", "torchtune-0.3.0", {"enable_activation_offloading"}, {}},
    {"unsloth", "unsloth-2026.3.1", {"unsloth", "unsloth_cli"}, {}},
    {"unsloth", "unsloth-2026.4.8", {"unsloth_cli"}, {"unsloth"}},
};

/// Words of a command, and behind the dot of a key of a table.
Keys words_in(const std::string& command) {
  Keys words;
  std::string word;
  for (const char c : command + " ") {
    if (is_of_key(c)) {
      word += c;
    } else if (!word.empty()) {
      words.insert(std::exchange(word, {}));
    }
  }
  return words;
}

constexpr std::string_view release_runs[] = {
    "--method lora --lora-targets q,v --recompute full --offload activations --dtype bf16",
    "--method lora --gpus 16 --recompute full --sharding fsdp2", "--method full --gpus 8 --recompute full --dtype bf16",
    "--method lora --fused-kernels 1 --loss fused-linear"};

}  // namespace

TEST_CASE("a command for a trainer says only keys that the trainer documents") {
  for (const auto& [framework, source, keys] : trainers) {
    for (const auto run : key_runs) {
      const std::string line = "--model llama-3.1-8b --gpu a100-80 --framework " + framework + " " + std::string(run);
      CAPTURE(line, source);
      try {
        const auto launch = launched(line);
        if (launch.command.empty()) continue;
        const auto said = keys_in(launch.command);
        CHECK(said.size() > 3);
        for (const auto& key : said) {
          INFO(key);
          CHECK((keys.contains(key) || arguments_of_transformers.contains(key)));
        }
        CHECK_THAT(launch.command, !Contains("pretrain_gpt") && !Contains("litgpt pretrain"));
      } catch (const quantity::BadInput& error) {
        CHECK_FALSE(error.place().empty());  // what a framework does not do is refused by name
      }
    }
  }
}

TEST_CASE("a command for an earlier release says no word that its package does not have") {
  for (const auto& [framework, software, lacks, has] : earlier) {
    Keys printed;
    for (const auto run : release_runs) {
      std::string line = "--model llama-3.1-8b --gpu a100-80 --framework " + framework + " " + std::string(run);
      line += " --framework-version " + software;
      CAPTURE(line);
      try {
        const auto launch = launched(line);
        CAPTURE(launch.command, launch.beyond);
        CHECK(launch.command.empty() == !launch.beyond.empty());
        for (const auto& word : words_in(launch.command)) {
          CHECK_FALSE(lacks.contains(word));
          printed.insert(word);
        }
      } catch (const quantity::BadInput& error) {
        CHECK_FALSE(error.place().empty());
      }
    }
    CAPTURE(software);
    for (const auto& word : has) {
      INFO(word);
      CHECK(printed.contains(word));
    }
  }
}

TEST_CASE("a release without the program that would be started says since when there is one") {
  const auto old =
      launched("--model llama-3.1-8b --gpu a100-80 --framework unsloth --framework-version unsloth-2026.3.1");
  CHECK(old.command.empty());
  REQUIRE(old.beyond.size() == 1);
  CHECK_THAT(old.beyond[0], Contains("unsloth takes these options since unsloth 2026.3.6"));
}
