// LLaMA-Factory's YAML and options (src/llamafactory/hparams): the Trainer's keys and its own.
#include "dialects/trainers/rules.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::dialects {
namespace {

constexpr std::string_view keys_of_v1[] = {"model_class", "dist_config.name", "train_dataset"};
constexpr std::string_view v1_default = "LLaMA-Factory v1 default";

bool is_v1(const Settings& settings) {
  return std::ranges::any_of(keys_of_v1, [&](std::string_view key) { return settings.has(key); });
}

/// FSDP2 by the name of a plugin (v1/plugins/trainer_plugins/distributed).
void take_plugin(Settings& settings) {
  if (settings.text("dist_config.name") != "fsdp2") return;
  const Setting name = *settings.find("dist_config.name");
  settings.say("fsdp", "full_shard", name);
  settings.say("fsdp_version", "2", name);
}

/// A switch that has the opposite name elsewhere.
void take_switch_of_v1(Settings& settings) {
  if (!settings.has("enable_activation_checkpointing")) return;
  const Setting on = *settings.find("enable_activation_checkpointing");
  settings.remove(on.key);
  settings.say("disable_gradient_checkpointing", quantity::to_lower(on.text) == "false" ? "true" : "false", on);
}

/// `llamafactory-cli export` and runs that only predict take files of the same form.
void refuse_what_trains_nothing(const Sheet& sheet) {
  if (sheet.is_on("do_train")) return;
  const Setting* exports = sheet.find("export_dir");
  if (exports != nullptr && sheet.find("output_dir") == nullptr) {
    throw quantity::BadInput(exports->where, "exports a model, which trains nothing",
                             "name a file of training, or ask llmcalc serve --model NAME");
  }
  if (!sheet.is_on("do_predict")) return;
  throw quantity::BadInput(sheet.said("do_predict").where, "predicts and trains nothing",
                           "name a file of training, or ask llmcalc serve --model NAME");
}

/// Megatron-Core trains where its degrees are said (USE_MCA=1, mcore_adapter's arguments).
bool by_megatron(const Sheet& sheet) {
  return sheet.find({"tensor_model_parallel_size", "pipeline_model_parallel_size", "expert_model_parallel_size"}) !=
         nullptr;
}

/// finetuning_type is lora where nothing is said (hparams/finetuning_args.py), and full in version 1.
void take_method(Sheet& sheet) {
  const std::string type = sheet.text("finetuning_type");
  const bool quantized = take_quantization(sheet, Nested::yes);
  // model/model_utils/quantization.py: a checkpoint that is quantized already stays so, whatever quantization_bit says;
  // of others these are the weights that the trainer takes unasked
  if (const auto* weights = sheet.word("weights"); weights != nullptr && weights->text == "nf4-dq") {
    sheet.unsay("weights");
  }
  if (type.empty() && !quantized) {
    const bool v1 = is_v1(sheet.settings());
    sheet.by_default("method", v1 ? "full" : "lora", v1 ? v1_default : "LLaMA-Factory default");
  } else {
    const Setting& because = *sheet.find({"finetuning_type", "quantization_bit", "load_in_4bit", "load_in_8bit"});
    const bool adapts = type.empty() || type == "lora";
    if (type == "freeze") sheet.assume(because, "every layer is trained");
    const bool known = adapts || type.empty() || type == "full" || type == "freeze";
    if (!known) {
      throw quantity::BadInput(
          because.where, "finetuning_type " + quantity::quoted(type) + " is none that is modelled",
          "known are lora, full and freeze; leave it out and say --method, if another stands for it");
    }
    sheet.say("method", adapts ? adapter_method(sheet, quantized ? "nf4-dq" : "") : "full", because);
  }
  take_targets(sheet, {"lora_target"});
}

/// model/adapter.py: what is trained is upcast to fp32 unless pure_bf16.
void take_types(Sheet& sheet) {
  const Given* method = sheet.word("method");
  const bool adapts = method != nullptr && method->text != "full";
  if (sheet.is_on("pure_bf16")) return sheet.say("dtype", "bf16", sheet.said("pure_bf16"));
  take_precision(sheet, {"dtype", "torch_dtype"}, adapts ? Loads::half : Loads::fp32);
  if (!is_v1(sheet.settings())) return;
  sheet.by_default("dtype", adapts || sheet.find("deepspeed") != nullptr ? "bf16" : "mixed-bf16", v1_default);
  sheet.by_default("micro_batch", "1", v1_default);
}

/// Losses of DPO's trainer that compare with no reference (hparams/finetuning_args.py, use_ref_model).
void take_loss_alone(Sheet& sheet) {
  const std::string loss = sheet.text("pref_loss");
  if (sheet.text("stage") == "dpo" && (loss == "simpo" || loss == "orpo"))
    sheet.say("algorithm", "orpo", *sheet.find("pref_loss"));
}

/// Unsloth's way rests what layers begin with on the host (model/model_utils/checkpointing.py).
void take_checkpointing(Sheet& sheet) {
  const Setting* disabled = sheet.find("disable_gradient_checkpointing");
  if (disabled != nullptr && sheet.is_on("disable_gradient_checkpointing")) {
    sheet.say("recompute", "none", *disabled);
  } else {
    sheet.by_default("recompute", "full", "LLaMA-Factory default");
    if (sheet.is_on("use_unsloth_gc")) sheet.say("offload", "activations", sheet.said("use_unsloth_gc"));
  }
}

void take_data(Sheet& sheet) {
  take_length(sheet,
              {"max_steps", {"num_train_epochs"}, {"packing", "neat_packing"}, "max_samples", transformers_epochs});
  const Setting* packing = sheet.find("packing");
  const bool nobody_says = packing == nullptr || says_nothing(*packing);
  if (nobody_says && sheet.text("stage") == "pt") {
    sheet.by_default("packing", "1", "LLaMA-Factory default");  // hparams/parser.py
  } else {
    assume_full_sequences(sheet, {"packing", "neat_packing"});
  }
}

void take_megatron(Sheet& sheet) {
  sheet.say("framework", "megatron",
            *sheet.find({"tensor_model_parallel_size", "pipeline_model_parallel_size", "expert_model_parallel_size"}));
  take_megatron_run(sheet);
  take_data(sheet);
}

}  // namespace

/// Version 1 says some of it in words of its own.
void complete_llama_factory(Settings& settings) {
  if (!is_v1(settings)) return;
  take_plugin(settings);
  take_switch_of_v1(settings);
}

void llama_factory_rules(Sheet& sheet) {
  refuse_what_trains_nothing(sheet);
  take_method(sheet);
  if (by_megatron(sheet)) return take_megatron(sheet);
  take_deepspeed(sheet, "deepspeed", "8");
  if (sheet.has("cp")) sheet.by_default("cp_exchange", "all-to-all", "LLaMA-Factory default");
  take_galore(sheet);
  assume_reward_model(sheet, "stage");
  take_loss_alone(sheet);
  take_types(sheet);
  take_checkpointing(sheet);
  take_evaluation(sheet, evaluates(sheet), "8", "transformers default");
  take_optimizer_impl(sheet);
  take_fsdp(sheet);
  take_liger(sheet, "enable_liger_kernel");
  take_data(sheet);
}

/// LLaMA-Factory 0.9.5, src/llamafactory/hparams.
std::string write_llama_factory(Letter& letter) {
  const spec::Question& question = letter.question;
  const spec::Layout& layout = question.layout;
  letter.settings.put("model_name_or_path", letter.model);
  letter.settings.put("stage", "sft");
  letter.settings.say("do_train", true);
  letter.settings.put("finetuning_type", has_adapters(question) ? "lora" : "full");
  write_adapters(letter, {"lora_rank", "lora_target", "additional_target", "all", ","});
  if (in_4_bits(question)) letter.settings.put("quantization_bit", std::int64_t{4});
  write_rows(letter);
  write_optimizer(letter, "optim");
  const auto& precision = question.training.precision;
  const bool pure = !has_adapters(question) && precision.weights == formats::Dtype::bf16 && !precision.autocast;
  if (pure) letter.settings.say("pure_bf16", true);
  if (!pure) write_precision(letter, "dtype", has_adapters(question) ? Loads::half : Loads::fp32);
  const bool recomputes = question.training.recompute.policy == spec::RecomputePolicy::full;
  letter.settings.say("disable_gradient_checkpointing", !recomputes);
  const bool offloads = recomputes && question.training.offload == spec::Offload::activations;
  if (offloads) letter.settings.say("use_unsloth_gc", true);
  if (question.training.fused_kernels) letter.settings.say("enable_liger_kernel", true);
  write_fsdp(letter, true);
  const std::string engine = write_deepspeed(letter);
  const std::string several = layout.nodes > 1 ? fmt::format("NNODES={} ", layout.nodes) : "";
  return engine + file_text("run.yaml", letter.settings.yaml()) +
         fmt::format("FORCE_TORCHRUN=1 {}NPROC_PER_NODE={} llamafactory-cli train run.yaml", several,
                     layout.gpus / layout.nodes);
}

}  // namespace llmcalc::dialects
