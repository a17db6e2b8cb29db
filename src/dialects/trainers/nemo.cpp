// NeMo 1's files for Hydra (nemo examples/nlp/language_modeling/conf, NeMo-Framework-Launcher): Megatron-LM's arguments
// below `model`, Lightning's below `trainer`.
#include "dialects/core/format.hpp"
#include "dialects/trainers/megatron_rules.hpp"
#include "dialects/trainers/torch_rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace llmcalc::dialects {
namespace {

void put(Settings& settings, std::string_view key, const Setting& because) {
  Setting setting = because;
  setting.key = key;
  setting.text = "true";
  settings.put(std::move(setting));
}

/// Weights rest in the type of --precision under O2 alone; else it is autocast above fp32 (nlp_overrides.py).
void take_precision(Sheet& sheet) {
  sheet.unsay("dtype");
  const Setting* precision = sheet.find("trainer.precision");
  const std::string word = precision == nullptr ? "32" : quantity::to_lower(precision->text);
  const bool half = word.starts_with("bf16") || word.starts_with("16");
  if (!half) return sheet.by_default("dtype", "fp32", "NeMo default");
  const std::string type = word.starts_with("bf16") ? "bf16" : "fp16";
  sheet.say("dtype", (sheet.is_on("megatron_amp_O2") ? "" : "mixed-") + type, *precision);
}

/// A run that begins from a checkpoint takes the model from there.
void take_adapters(Sheet& sheet) {
  const Setting* from = sheet.find({"restore_from_path", "pretrained_checkpoint.restore_from_path"});
  if (from != nullptr && !sheet.has("layers")) {
    sheet.leave_open("model", "restore_from_path " + from->text + " holds the model: it is not read", *from);
  }
  const Setting* scheme = sheet.find("peft.peft_scheme");
  if (scheme == nullptr || scheme->text.find("lora") == std::string::npos) return;
  sheet.say("method", "lora", *scheme);
  if (const Setting* rank = sheet.find("peft.lora_tuning.adapter_dim")) sheet.say("lora_rank", rank->text, *rank);
}

}  // namespace

/// Switches of Megatron-LM that NeMo says in other words (megatron_gpt_model.py, build_transformer_config).
void rename_nemo(Settings& settings) {
  const auto text = [&](std::string_view key) {
    const Setting* setting = settings.find(key);
    return setting == nullptr ? std::string() : quantity::to_lower(setting->text);
  };
  if (text("activation").ends_with("swiglu")) put(settings, "swiglu", Setting(*settings.find("activation")));
  if (text("activation") == "squared-relu") put(settings, "squared_relu", Setting(*settings.find("activation")));
  if (text("bias") == "false") put(settings, "disable_bias_linear", Setting(*settings.find("bias")));
  if (text("share_embeddings_and_output_weights") == "false") {
    put(settings, "untie_embeddings_and_output_weights",
        Setting(*settings.find("share_embeddings_and_output_weights")));
  }
  const std::string groups = text("num_query_groups");
  if (!groups.empty() && groups != "null")
    put(settings, "group_query_attention", Setting(*settings.find("num_query_groups")));
  if (text("normalization") == "layernorm1p") settings.remove("normalization");  // a layernorm
  if (text("optim.name").starts_with("distributed")) {
    put(settings, "use_distributed_optimizer", Setting(*settings.find("optim.name")));
  }
  if (text("fp8") == "true") put(settings, "fp8_format", Setting(*settings.find("fp8")));
}

void nemo_rules(Sheet& sheet) {
  take_megatron_model(sheet);
  take_megatron_run(sheet);
  take_precision(sheet);
  take_cluster(sheet, "trainer.devices", "trainer.num_nodes", 1);
  if (sheet.count("trainer.num_nodes").value_or(1) == 1) sheet.unsay("nodes");
  take_adapters(sheet);
  if (const Setting* steps = sheet.find("trainer.max_steps"); steps != nullptr && !steps->text.starts_with('-')) {
    sheet.say("steps", steps->text, *steps);
  }
}

}  // namespace llmcalc::dialects
