// transformers' TrainingArguments and trl's configurations, as YAML, JSON or options of a script.
#include "read/launch/formats.hpp"
#include "read/trainers/engine_beside.hpp"
#include "read/trainers/run_length.hpp"
#include "read/trainers/torch_rules.hpp"

#include <string>

namespace llmcalc::read {
namespace {

/// trl's ModelConfig (trainer/model_config.py) and the configurations of its trainers.
constexpr Row rows[] = {
    {"model", Use::term, "model"},
    {"lora_r", Use::term, "lora_rank"},
    {"lora_rank", Use::term, "lora_rank"},
    {"lora_target_modules", Use::rule},
    {"use_peft", Use::rule},
    {"deepspeed_config", Use::rule},
    {"use_dora", Use::rule},
    {"algorithm", Use::rule},
    {"precompute_ref_log_probs", Use::rule},
    {"activation_offloading", Use::rule},
    {"beta", Use::unmapped, "trl keeps no reference model where beta is 0: say --reference none"},
    {"loss_type", Use::unmapped, "the usual loss of the algorithm"},
    {"num_generations", Use::unmapped, "one sample a prompt is generated at once"},
    {"use_vllm", Use::rule},
    {"vllm_mode", Use::rule},
    {"vllm_gpu_memory_utilization", Use::rule},
    {"vllm_enable_sleep_mode", Use::rule},
    {"vllm_*", Use::unmapped, "the engine beside the trainer keeps its share, whatever it does with it"},
    {"ref_model*", Use::unmapped, "the reference is a copy of the model"},
    {"reward_*", Use::unmapped, "the reward model is as large as the trained one"},
    {"router_aux_loss_coef"},
    {"sync_ref_model"},
    {"attn_kwargs*"},
    {"use_logits_to_keep"},
    {"eval_packing"},
    {"packing_strategy"},
    {"temperature"},
    {"top_p"},
    {"top_k"},
};

const std::span<const Row> tables[] = {rows, trainer_rows(), harmless_rows()};

bool recognizes(const Settings& settings) {
  return settings.has("per_device_train_batch_size") || settings.has("deepspeed_config") ||
         settings.has("model_name_or_path") || (settings.has("output_dir") && settings.has("learning_rate"));
}

/// Keys that trl's configurations and ModelConfig have beside those of TrainingArguments.
void take_trl(Sheet& sheet) {
  const bool is_trl = sheet.find({"algorithm", "use_peft", "lora_r", "load_in_4bit", "load_in_8bit", "max_length",
                                  "packing", "beta", "loss_type", "num_generations", "use_vllm",
                                  "activation_offloading", "precompute_ref_log_probs"}) != nullptr;
  if (!is_trl) return;
  sheet.unsay("framework");
  sheet.by_default("framework", "trl", "trl's own keys");
}

void take_method(Sheet& sheet) {
  const bool adapts = sheet.is_on("use_peft") || sheet.is_on("use_dora");
  const bool quantized = take_quantization(sheet, Nested::no);
  if (!adapts && !quantized) return;
  const Setting& because = *sheet.find({"use_dora", "use_peft", "load_in_4bit", "load_in_8bit", "quantization_bit"});
  sheet.say("method", quantized ? "qlora" : sheet.is_on("use_dora") ? "dora" : "lora", because);
  take_targets(sheet, {"lora_target_modules"});
}

void take_algorithm(Sheet& sheet) {
  if (const Setting* algorithm = sheet.find("algorithm")) sheet.say("algorithm", sheet.text("algorithm"), *algorithm);
  if (sheet.is_on("precompute_ref_log_probs")) {
    sheet.say("reference", "precomputed", sheet.said("precompute_ref_log_probs"));
  }
}

void rules(Sheet& sheet) {
  take_trl(sheet);
  // DeepSpeed's own programs name their file --deepspeed_config (deepspeed/__init__.py, add_config_arguments).
  const bool alone = sheet.find("deepspeed_config") != nullptr;
  take_deepspeed(sheet, alone ? "deepspeed_config" : "deepspeed", alone ? "" : "8");
  take_algorithm(sheet);
  take_engine_beside(sheet, trl_engine);
  take_method(sheet);
  take_precision(sheet, {"dtype", "torch_dtype"}, Loads::fp32);
  take_recompute(sheet, {"gradient_checkpointing", "activation_checkpointing"});
  take_optimizer_impl(sheet);
  take_fsdp(sheet);
  widen_under_fsdp(sheet);
  if (sheet.is_on("activation_offloading")) sheet.say("offload", "activations", sheet.said("activation_offloading"));
  take_liger(sheet, "use_liger_kernel");
  take_length(sheet, {"max_steps", {"num_train_epochs"}, {"packing"}, "max_train_samples", transformers_epochs});
  assume_full_sequences(sheet, {"packing"});
}

}  // namespace

const Format& trainer_format() {
  static const Format format{"Hugging Face training arguments", "hf", tables, recognizes, rules};
  return format;
}

}  // namespace llmcalc::read
