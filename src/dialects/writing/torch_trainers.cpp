// What is typed to train with LitGPT, torchtune and Lightning. $MODEL stands for a folder or a recipe's model, $DATA
// for a data set.
#include "dialects/writing/command_text.hpp"
#include "dialects/writing/launchers.hpp"
#include "dialects/writing/training_words.hpp"
#include "llmcalc/formats/dtype.hpp"
#include "llmcalc/spec/question.hpp"
#include "spec/names.hpp"
#include "spec/traits.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace llmcalc::dialects {

using formats::Dtype;
using spec::Question;
using spec::Training;

namespace {

/// lightning 2.6.6, fabric/plugins/precision: the type of the weights, or of products beside fp32 weights.
std::string_view precision_of(const Training& training) {
  const auto& precision = training.precision;
  const bool narrow_weights = precision.weights != Dtype::fp32;
  if (precision.compute == Dtype::bf16) return narrow_weights ? "bf16-true" : "bf16-mixed";
  if (precision.compute == Dtype::fp16) return narrow_weights ? "16-true" : "16-mixed";
  return "32-true";
}

std::string_view strategy_of(const spec::Layout& layout) {
  switch (layout.sharding) {
    case spec::Sharding::fsdp1:
    case spec::Sharding::fsdp2:
    case spec::Sharding::hsdp: return "fsdp";
    default: break;
  }
  const int stage = spec::zero_stage(layout.sharding);
  if (stage == 1) return "deepspeed_stage_1";
  if (stage == 2) return "deepspeed_stage_2";
  if (stage == 3) return "deepspeed_stage_3";
  return layout.gpus > 1 ? "ddp" : "auto";
}

}  // namespace

/// litgpt 0.5.13, litgpt/finetune/lora.py and full.py, litgpt/args.py.
Launch launch_litgpt(const Question& question) {
  const Training& training = question.training;
  CommandText command(fmt::format("litgpt {} $MODEL", has_adapters(training) ? "finetune_lora" : "finetune_full"));
  command.word("--precision", precision_of(training));
  command.option("--devices", question.layout.gpus / question.layout.nodes);
  command.option("--num_nodes", question.layout.nodes);
  command.option("--train.micro_batch_size", training.micro_batch);
  command.option("--train.global_batch_size", training.global_batch);
  command.option("--train.max_seq_length", training.seq);
  if (has_adapters(training)) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> switches{{{"q", "--lora_query"},
                                                                                     {"k", "--lora_key"},
                                                                                     {"v", "--lora_value"},
                                                                                     {"o", "--lora_projection"},
                                                                                     {"up", "--lora_mlp"},
                                                                                     {"head", "--lora_head"}}};
    command.option("--lora_r", training.adapter.rank);
    for (const auto& [target, name] : switches) command.word(name, adapts(training, target) ? "true" : "false");
  }
  if (in_4_bits(training)) command.word("--quantize", "bnb.nf4");
  return {"LitGPT", command.text(), {}};
}

/// torchtune 0.6.1, recipes/lora_finetune_single_device.py and its kin, recipes/configs.
Launch launch_torchtune(const Question& question) {
  const Training& training = question.training;
  const auto gpus = question.layout.gpus;
  const std::string processes = gpus > 1 ? fmt::format(" --nproc_per_node {}", gpus / question.layout.nodes) : "";
  CommandText command(fmt::format("tune run{} {}_{} --config $CONFIG", processes,
                                  has_adapters(training) ? "lora_finetune" : "full_finetune",
                                  gpus > 1 ? "distributed" : "single_device"));
  const auto set = [&](std::string_view key, const auto& value) { command.flag(fmt::format("{}={}", key, value)); };
  set("batch_size", training.micro_batch);
  set("gradient_accumulation_steps", training.grad_accum);
  set("tokenizer.max_seq_len", training.seq);
  set("dtype", training.precision.weights == Dtype::fp32 ? "fp32" : "bf16");
  set("enable_activation_checkpointing", recomputes(training) ? "True" : "False");
  std::vector<std::string> beyond;
  if (has_adapters(training)) {
    set("model.lora_rank", training.adapter.rank);
    set("model.apply_lora_to_mlp", adapts(training, "up") ? "True" : "False");
    beyond.emplace_back(in_4_bits(training) ? "$CONFIG: a recipe of a qlora_ model, with its lora_attn_modules"
                                            : "$CONFIG: a recipe of a lora_ model, with its lora_attn_modules");
  }
  return {"torchtune", command.text(), std::move(beyond)};
}

/// lightning 2.6.6, pytorch/trainer/trainer.py.
Launch launch_lightning(const Question& question) {
  const Training& training = question.training;
  const auto& layout = question.layout;
  std::vector<std::string> beyond;
  if (has_adapters(training)) beyond.push_back(fmt::format("adapters of rank {}: peft's own", training.adapter.rank));
  return {"Lightning",
          fmt::format("Trainer(devices={}, num_nodes={}, strategy=\"{}\",\n    precision=\"{}\", "
                      "accumulate_grad_batches={})",
                      layout.gpus / layout.nodes, layout.nodes, strategy_of(layout), precision_of(training),
                      training.grad_accum),
          std::move(beyond)};
}

}  // namespace llmcalc::dialects
