#include "dialects/trainers/llama_factory_v1.hpp"

#include "dialects/core/format.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace llmcalc::dialects {
namespace {

/// v1/config/training_args.py, model_args.py and the plugins' tables, by the names of hparams.
constexpr Spelling names[] = {{"model", "model_name_or_path"},
                              {"train_dataset", "dataset"},
                              {"micro_batch_size", "per_device_train_batch_size"},
                              {"peft_config.name", "finetuning_type"},
                              {"peft_config.r", "lora_rank"},
                              {"peft_config.lora_dropout", "lora_dropout"},
                              {"peft_config.target_modules", "lora_target"},
                              {"peft_config.freeze_trainable_layers", "freeze_trainable_layers"},
                              {"quant_config.quantization_bit", "quantization_bit"},
                              {"quant_config.quantization_type", "quantization_type"},
                              {"quant_config.double_quantization", "double_quantization"},
                              {"dist_config.config_file", "deepspeed"},
                              {"dist_config.cp_size", "sequence_parallel_size"}};

void put_default(Settings& settings, std::string_view key, std::string_view value) {
  if (!settings.has(key)) settings.put({std::string(key), std::string(value), {}, "LLaMA-Factory v1 default", {}});
}

/// FSDP2 by the name of a plugin (v1/plugins/trainer_plugins/distributed).
void take_plugin(Settings& settings) {
  const Setting* name = settings.find("dist_config.name");
  if (name == nullptr || quantity::to_lower(name->text) != "fsdp2") return;
  const std::string where = name->where;
  settings.put({"fsdp", "full_shard", {}, where, {}});
  settings.put({"fsdp_version", "2", {}, where, {}});
}

/// A switch that has the opposite name elsewhere.
void take_checkpointing(Settings& settings) {
  const Setting* on = settings.find("enable_activation_checkpointing");
  if (on == nullptr) return;
  const bool off = quantity::to_lower(on->text) == "false";
  Setting opposite{"disable_gradient_checkpointing", off ? "true" : "false", {}, on->where, {}};
  settings.remove("enable_activation_checkpointing");
  settings.put(std::move(opposite));
}

}  // namespace

void rename_llama_factory_v1(Settings& settings) {
  if (!settings.has("model_class") && !settings.has("dist_config.name") && !settings.has("train_dataset")) return;
  Settings renamed;
  for (Setting setting : settings.all()) {
    const auto* found = std::ranges::find(names, std::string_view(setting.key), &Spelling::theirs);
    if (found != std::end(names)) setting.key = found->ours;
    renamed.put(std::move(setting));
  }
  take_plugin(renamed);
  take_checkpointing(renamed);
  put_default(renamed, "finetuning_type", "full");
  put_default(renamed, "per_device_train_batch_size", "1");
  put_default(renamed, "bf16", "true");
  settings = std::move(renamed);
}

}  // namespace llmcalc::dialects
