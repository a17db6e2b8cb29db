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
std::string litgpt_command(const Question& question) {
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
  return command.text();
}

/// lightning 2.6.6, pytorch/trainer/trainer.py.
std::string lightning_command(const Question& question) {
  const Training& training = question.training;
  const auto& layout = question.layout;
  return fmt::format(
      "Trainer(devices={}, num_nodes={}, strategy=\"{}\",\n    precision=\"{}\", accumulate_grad_batches={})",
      layout.gpus / layout.nodes, layout.nodes, strategy_of(layout), precision_of(training), training.grad_accum);
}

}  // namespace llmcalc::dialects
