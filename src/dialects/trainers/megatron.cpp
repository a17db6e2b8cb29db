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

/// The kind of training that a recipe's name says, behind its model's: "qwen3_8b_peft_config".
struct RecipeKind {
  std::string_view word;
  std::string_view algorithm;
  std::string_view method;
};
constexpr RecipeKind recipe_kinds[] = {{"pretrain", "", ""},   {"sft", "sft", ""},      {"finetune", "sft", ""},
                                       {"dpo", "dpo", ""},     {"peft", "sft", "lora"}, {"lora", "sft", "lora"},
                                       {"dora", "sft", "dora"}};

void take_kind(Sheet& sheet, std::string_view word, const Setting& because) {
  const auto* kind = quantity::find_or_null(recipe_kinds, word, &RecipeKind::word);
  if (kind == nullptr) return;
  if (!kind->algorithm.empty()) sheet.say("algorithm", kind->algorithm, because);
  if (!kind->method.empty()) sheet.say("method", kind->method, because);
}

/// "qwen3_30b_a3b_pretrain_16gpu_h100_bf16_config", and NeMo 2's "llama3_8b": of its parts those before the kind are
/// the model, and those behind may be accelerators and types.
void take_recipe_name(Sheet& sheet, const Setting& recipe) {
  std::string model;
  bool names_model = true;
  const auto name = std::string_view(recipe.text).substr(0, recipe.text.find('('));
  for (const auto part : quantity::pieces_of(quantity::without_end(name, "_config"), "_")) {
    const auto* kind = quantity::find_or_null(recipe_kinds, part, &RecipeKind::word);
    names_model = names_model && kind == nullptr;
    if (names_model) model.append(model.empty() ? "" : "-").append(part);
    take_kind(sheet, part, recipe);
    const auto cards = quantity::without_end(part, "gpu");
    if (cards.size() < part.size() && quantity::is_number(cards)) sheet.say("gpus", cards, recipe);
    if (part == "mxfp8" || part == "nvfp4") sheet.say("compute", part, recipe);
    if (part == "fp8") sheet.say("compute", "fp8-e4m3", recipe);
  }
  const auto known = spellings_of("@recipe_model");
  const auto* other = quantity::find_or_null(known, std::string_view(model), &Spelling::theirs);
  if (!model.empty()) sheet.say("model", other == nullptr ? model : other->ours, recipe);
}

/// Leaves to options what a recipe sets where the command does not: it is a function of Python's.
void leave_to_recipe(Sheet& sheet, const Setting& recipe) {
  std::vector<std::string> open;
  for (const std::string_view term : {"tp", "pp", "micro_batch", "global_batch", "seq"}) {
    if (!sheet.has(term)) open.emplace_back(term);
  }
  const auto options = quantity::joined(open, " ", [](const std::string& term) { return spec::option_of(term); });
  for (const std::string& term : open)
    sheet.leave_open(term, "the recipe " + recipe.text + " says " + options + ", and is not read", recipe);
  sheet.assume(recipe, "what it sets beside the model, as recomputation, is not read", "recompute");
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
  if (settings.text("optim.name").find("distributed") != std::string::npos) {
    settings.say("use_distributed_optimizer", "true", *settings.find("optim.name"));
  }
  if (const Setting* tokenizer = settings.find("tokenizer.type")) {
    const Setting named = *tokenizer;
    settings.say("tokenizer_model", named.text, named);
  }
  if (settings.text("fp8") == "true") settings.say("fp8_format", "true", *settings.find("fp8"));
}

/// scripts/training/run_recipe.py: a recipe by its name, and what is said on top of it; a file of overrides alone names
/// none.
void megatron_bridge_rules(Sheet& sheet) {
  const Setting* recipe = sheet.find({"recipe", "factory"});
  if (recipe != nullptr && recipe->key == "factory") sheet.say("framework", "nemo", *recipe);
  take_megatron_run(sheet);
  sheet.unsay("dtype");
  if (recipe == nullptr) {
    if (sheet.has("layers") && sheet.has("hidden")) take_megatron_model(sheet);
    if (!sheet.has("hidden"))
      sheet.assume("a recipe's overrides do not name the model, and not what it sets: say --model");
  } else {
    take_recipe_name(sheet, *recipe);
    leave_to_recipe(sheet, *recipe);
  }
  for (const auto key : {"mode", "peft_scheme", "peft"}) {
    if (const Setting* said = sheet.find(key)) take_kind(sheet, said->text, *said);
  }
  const Setting* path = sheet.find("hf_path");
  if (path != nullptr && path->text.find('/') != std::string::npos) sheet.say("model", path->text, *path);
  if (sheet.has("method")) take_targets(sheet, {"peft.target_modules"});
  take_cluster(sheet, "trainer.devices", "trainer.num_nodes", 1);
}

void nemo_rules(Sheet& sheet) {
  take_megatron_model(sheet);
  for (const auto gated : {"geglu", "reglu"}) {
    if (sheet.has("mlp") && sheet.text("activation").ends_with(gated))
      sheet.say("mlp", gated, *sheet.find("activation"));
  }
  take_megatron_run(sheet);
  if (sheet.is_on("fsdp"))
    sheet.leave_open("sharding", "torch's FSDP around Megatron-LM's layers is not modelled", sheet.said("fsdp"));
  take_precision(sheet);
  take_cluster(sheet, "trainer.devices", "trainer.num_nodes", 1);
  if (sheet.count("trainer.num_nodes").value_or(1) == 1) sheet.unsay("nodes");
  take_adapters(sheet);
  if (const Setting* steps = sheet.find("trainer.max_steps"); steps != nullptr && !steps->text.starts_with('-')) {
    sheet.say("steps", steps->text, *steps);
  }
}

}  // namespace llmcalc::dialects
