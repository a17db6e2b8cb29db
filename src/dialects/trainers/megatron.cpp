// Megatron-LM's arguments (megatron/training/arguments.py), of which most describe the model, those in YAML, and what
// is built on it and has arguments of its own: Megatron-DeepSpeed (megatron/arguments.py), MindSpeed-LLM
// (mindspeed_llm/training/arguments.py), Pai-Megatron-Patch (megatron_patch/arguments.py), Megatron-LM of 2021, and
// NeMo 1's files for Hydra (nemo examples/nlp/language_modeling/conf, NeMo-Framework-Launcher), which have these below
// `model`.
#include "dialects/trainers/rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <array>

namespace llmcalc::dialects {
namespace {

/// Layers that are computed again: --checkpoint-activations since 2019, --activations-checkpoint-method in 2021.
void take_checkpointing(Sheet& sheet) {
  const Setting* method = sheet.find("activations_checkpoint_method");
  const bool on = sheet.is_on("checkpoint_activations") || sheet.is_on("deepspeed_activation_checkpointing");
  if (method == nullptr && !on) return;
  const Setting& because = method != nullptr                       ? *method
                           : sheet.is_on("checkpoint_activations") ? sheet.said("checkpoint_activations")
                                                                   : sheet.said("deepspeed_activation_checkpointing");
  const auto layers = sheet.count("checkpoint_num_layers").value_or(1);
  const std::string name = method == nullptr ? "uniform" : quantity::to_lower(method->text);
  sheet.say("recompute", name + "-" + std::to_string(layers), because);
}

/// DeepSpeed's engine under Megatron's layers, as far as it shards.
void take_engine(Sheet& sheet) {
  if (!sheet.is_on("deepspeed")) return;
  const Setting* stage = sheet.find("zero_stage");
  const bool shards = stage != nullptr && stage->text != "0";
  if (shards) {
    sheet.say("framework", "deepspeed", *stage);
    sheet.assume(*stage, "layers as transformers writes them, states as DeepSpeed keeps them");
    take_zero(sheet, "zero_stage", {}, {});
  }
  const Setting* file = sheet.find("deepspeed_config");
  if (file != nullptr && shards) sheet.include(*file);
}

void take_shared_experts(Sheet& sheet) {
  const auto shared = sheet.count("n_shared_experts");
  const auto width = sheet.count("moe_ffn_hidden_size");
  if (!shared || !width || *shared < 1) return;
  sheet.say("shared_ffn", std::to_string(quantity::checked_multiply(*shared, *width)), *sheet.find("n_shared_experts"));
}

void take_relatives(Sheet& sheet) {
  take_checkpointing(sheet);
  take_engine(sheet);
  take_shared_experts(sheet);
  const Setting* dense = sheet.find("first_k_dense_replace");
  if (dense != nullptr && sheet.has("experts")) sheet.say("dense_layers", dense->text, *dense);
  if (const Setting* tokens = sheet.find("train_tokens")) {
    sheet.unsay("samples");
    sheet.say("tokens", tokens->text, *tokens);
  }
}

constexpr std::array<std::string_view, 2> blocks{"language_model.", "model_parallel."};

/// core/transformer/transformer_config.py and core/model_parallel_config.py, where options have other names.
constexpr Spelling names[] = {{"num_moe_experts", "num_experts"},
                              {"fp8", "fp8_format"},
                              {"virtual_pipeline_model_parallel_size", "num_virtual_stages_per_pipeline_rank"}};

void rename_key(std::string& key) {
  for (const auto block : blocks) key.erase(0, key.starts_with(block) ? block.size() : 0);
  if (const auto* found = quantity::find_or_null(names, key, &Spelling::theirs)) key = found->ours;
}

/// activation_func says what switches of the command line say; core's bias is on unless it is switched off.
void take_activation(Settings& settings) {
  if (const Setting* found = settings.find("activation_func")) {
    const Setting function = *found;
    const std::string name = quantity::to_lower(function.text);
    if (name == "swiglu") settings.say("swiglu", "true", function);
    if (name == "squared_relu" || name == "squaredrelu") settings.say("squared_relu", "true", function);
  }
  const Setting* bias = settings.find("add_bias_linear");
  if (bias != nullptr && quantity::to_lower(bias->text) == "false") settings.say("disable_bias_linear", "true", *bias);
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

void rename_megatron_yaml(Settings& settings) {
  if (!settings.has("language_model.num_layers")) return;
  Settings all;
  for (Setting setting : settings.all()) {
    rename_key(setting.key);
    all.put(std::move(setting));
  }
  take_activation(all);
  if (const Setting* groups = all.find("num_query_groups")) all.say("group_query_attention", "true", *groups);
  if (!all.has("num_experts")) all.remove("moe_router_topk");  // which stands there for dense models too
  settings = std::move(all);
}

void megatron_rules(Sheet& sheet) {
  take_megatron_model(sheet);
  take_megatron_run(sheet);
  take_relatives(sheet);
}

/// Megatron-LM, megatron/training/arguments.py.
std::string write_megatron(Letter& letter) {
  write_megatron_model(letter);
  write_rows(letter);
  write_megatron_run(letter);
  return letter.settings.options(torchrun(letter.question.layout, "pretrain_gpt.py"), Style::dashed);
}

/// Switches of Megatron-LM that NeMo says in other words (megatron_gpt_model.py, build_transformer_config).
void rename_nemo(Settings& settings) {
  if (settings.text("activation").ends_with("swiglu")) settings.say("swiglu", "true", *settings.find("activation"));
  if (settings.text("activation") == "squared-relu") settings.say("squared_relu", "true", *settings.find("activation"));
  if (settings.text("bias") == "false") settings.say("disable_bias_linear", "true", *settings.find("bias"));
  if (settings.text("share_embeddings_and_output_weights") == "false") {
    settings.say("untie_embeddings_and_output_weights", "true", *settings.find("share_embeddings_and_output_weights"));
  }
  const std::string groups = settings.text("num_query_groups");
  if (!groups.empty() && groups != "null")
    settings.say("group_query_attention", "true", *settings.find("num_query_groups"));
  if (settings.text("normalization") == "layernorm1p") settings.remove("normalization");  // a layernorm
  if (settings.text("optim.name").starts_with("distributed")) {
    settings.say("use_distributed_optimizer", "true", *settings.find("optim.name"));
  }
  if (settings.text("fp8") == "true") settings.say("fp8_format", "true", *settings.find("fp8"));
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
