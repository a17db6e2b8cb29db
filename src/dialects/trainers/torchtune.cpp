// torchtune's YAML (recipes/configs) and the overrides of `tune run`. Components are named by their Python builders,
// which say model and method (torchtune/models/<family>/_model_builders.py), and losses by their classes.
#include "dialects/trainers/rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/presets.hpp"

#include <fmt/format.h>

#include <tuple>

namespace llmcalc::dialects {
namespace {

/// The name behind the last dot of "torchtune.models.llama3_1.lora_llama3_1_8b", in lower case.
std::string component_name(std::string_view component) {
  return quantity::to_lower(component.substr(component.rfind('.') + 1));
}

struct Builder {
  std::string_view name;
  std::string_view preset;
  std::string_view family;  ///< the module of torchtune.models
};
constexpr Builder builders[] = {
#include "dialects/torchtune_builders.inc"
};

/// torchtune/rlhf/loss, torchtune/dev/grpo/loss.py: whose loss it is, by how its name begins.
constexpr Spelling losses[] = {{"dpo", "dpo"}, {"rso", "dpo"}, {"ppo", "ppo"}, {"grpo", "grpo"}, {"simpo", "orpo"}};

/// Tunings of a model have its shape.
std::string_view without_tuning(std::string_view name) {
  return quantity::without_end(quantity::without_end(name, "_instruct"), "_base");
}

/// Other recipes have files of the same form: those that generate, evaluate and quantize train nothing.
void refuse_other_recipes(const Sheet& sheet) {
  if (sheet.settings().has("optimizer._component_")) return;
  const auto refuse = [](const Setting& setting, std::string_view does) {
    throw quantity::BadInput(setting.where, "this recipe of torchtune " + std::string(does) + " and trains nothing",
                             "name a configuration with an optimizer, or ask llmcalc serve --model NAME");
  };
  const Setting* recipe = sheet.find("positional.0");
  for (const auto& [name, does] :
       {Spelling{"generate", "generates text"}, Spelling{"eval", "evaluates"}, Spelling{"quantize", "quantizes"}}) {
    if (recipe != nullptr && recipe->text.find(name) != std::string::npos) refuse(*recipe, does);
  }
  for (const auto& [key, does] : {Spelling{"max_new_tokens", "generates text"}, Spelling{"tasks", "evaluates"},
                                  Spelling{"quantizer._component_", "quantizes"}}) {
    const Setting* setting = sheet.settings().find(key);
    if (setting != nullptr) refuse(*setting, does);
  }
}

void take_loss(Sheet& sheet) {
  const Setting* loss = sheet.find("loss._component_");
  if (loss == nullptr) return;
  const bool in_chunks =
      loss->text.find("Chunked") != std::string::npos || loss->text.find("LinearCrossEntropy") != std::string::npos;
  if (in_chunks) sheet.say("loss", "chunked", *loss);
  const auto* found = quantity::find_if_or_null(
      losses, [name = component_name(loss->text)](const Spelling& each) { return name.starts_with(each.theirs); });
  if (found != nullptr) sheet.say("algorithm", found->ours, *loss);
}

/// recipes/ppo_full_finetune_single_device.py: an update takes ppo_batch_size samples, in as many parts as gradients
/// accumulate; batch_size counts those that are generated before. recipes/dev/grpo_full_finetune_distributed.py: all
/// samples of batch_size prompts at once. recipes/dev/async_grpo.py: batch_size samples out of its buffer.
void take_policy_batch(Sheet& sheet) {
  const auto update = sheet.count("ppo_batch_size");
  const auto group = sheet.count("grpo_samples");
  const auto prompts = sheet.count("batch_size");
  const auto parts = sheet.count("gradient_accumulation_steps").value_or(1);
  if (update && parts > 0 && *update % parts == 0) {
    sheet.say("micro_batch", std::to_string(*update / parts), *sheet.find("ppo_batch_size"));
  } else if (group && prompts && !sheet.settings().has("replay_buffer_size")) {
    sheet.say("micro_batch", std::to_string(quantity::checked_multiply(*group, *prompts)), *sheet.find("grpo_samples"));
  }
}

/// Those recipes generate behind prompts, which the tokenizer cuts off; a reference with workers of its own is beside.
void take_generated(Sheet& sheet) {
  if (const Setting* workers = sheet.find("num_ref_workers")) sheet.say("reference", "none", *workers);
  const auto prompt = sheet.count("tokenizer.max_seq_len");
  const auto generated = sheet.count("max_generated_tokens");
  if (!prompt || !generated) return;
  sheet.say("seq", std::to_string(quantity::checked_add(*prompt, *generated)), *sheet.find("max_generated_tokens"));
}

/// "llama3_1/8B_qlora_single_device": a configuration that torchtune ships, by its model and method.
void take_recipe_name(Sheet& sheet) {
  const Setting* recipe = sheet.find("recipe");
  const auto slash = recipe == nullptr ? std::string::npos : recipe->text.find('/');
  if (slash == std::string::npos) return;
  const std::string name = quantity::to_lower(recipe->text);
  const auto size = std::string_view(name).substr(slash + 1, name.find('_', slash) - slash - 1);
  std::string builder = name.substr(0, slash) + "_";
  for (const char c : size) builder += c == '.' ? '_' : c;
  const auto* found = quantity::find_or_null(builders, std::string_view(builder), &Builder::name);
  if (found != nullptr) sheet.say("model", found->preset, *recipe);
  const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  sheet.say("method", has("qlora") ? "qlora" : has("dora") ? "dora" : has("lora") ? "lora" : "full", *recipe);
  if (has("qdora")) sheet.say("weights", "nf4", *recipe);
}

/// The builder of a model that is known by its name, with the method; empty for others.
std::string torchtune_component(const spec::Question& question) {
  const auto preset = read::Catalogue().find_model(question.model.shape.name);
  const auto* found =
      preset ? quantity::find_or_null(builders, std::string_view(preset->id), &Builder::preset) : nullptr;
  if (found == nullptr) return {};
  const std::string_view method = in_4_bits(question) ? "qlora_" : has_adapters(question) ? "lora_" : "";
  return fmt::format("torchtune.models.{}.{}{}", found->family, method, found->name);
}

void take_torchtune_model(Sheet& sheet) {
  refuse_other_recipes(sheet);
  take_recipe_name(sheet);
  take_loss(sheet);
  take_policy_batch(sheet);
  take_generated(sheet);
  const Setting* component = sheet.find({"model._component_", "policy_model._component_"});
  if (component == nullptr) return;
  std::string name = component_name(component->text);
  const bool quantized = name.starts_with("qlora_") || sheet.is_on("model.quantize_base");
  const bool adapts = quantized || name.starts_with("lora_");
  if (adapts && name.find("lora_") != std::string::npos) name.erase(0, name.find("lora_") + 5);
  if (const auto* found = quantity::find_or_null(builders, without_tuning(name), &Builder::name)) {
    sheet.say("model", found->preset, *component);
  } else {
    sheet.assume(*component, "no public model is known by that name", "model");
  }
  sheet.say("method", adapts ? adapter_method(sheet, quantized ? "nf4" : "", "model.use_dora") : "full", *component);
}

void take_adapted(Sheet& sheet) {
  take_targets(sheet, {"model.lora_attn_modules"});
  const Given* attention = sheet.word("lora_targets");
  if (attention == nullptr) return;
  std::string targets = attention->text;
  if (sheet.is_on("model.apply_lora_to_mlp")) targets += ",gate,up,down";
  if (sheet.is_on("model.apply_lora_to_output")) targets += ",head";
  sheet.say("lora_targets", targets, *sheet.find("model.lora_attn_modules"));
}

/// Modules of attention are listed, those of the MLP and the head have switches.
void write_torchtune_adapters(Letter& letter) {
  const auto& adapter = letter.question.training.adapter;
  const auto has = [&](std::string_view target) {
    return quantity::contains(adapter.targets, target) ||
           quantity::contains(adapter.targets, std::string_view("all-linear"));
  };
  std::vector<std::string> attention;
  for (const std::string_view each : {"q", "k", "v", "o"}) {
    if (has(each)) attention.emplace_back(each == "o" ? "output_proj" : std::string(each) + "_proj");
  }
  letter.settings.put("model.lora_rank", adapter.rank);
  letter.settings.put("model.lora_dropout", letter.text("lora_dropout"));
  letter.settings.put("model.lora_attn_modules", "[" + quantity::joined(attention, ",") + "]");
  letter.settings.put("model.apply_lora_to_mlp", has("up") ? "True" : "False");
  letter.settings.put("model.apply_lora_to_output", has("head") ? "True" : "False");
}

void take_optimizer(Sheet& sheet) {
  const Setting* component = sheet.find("optimizer._component_");
  if (component == nullptr) return;
  const auto classes = spellings_of("@torchtune_optimizer");
  const auto* found = quantity::find_if_or_null(
      classes,
      [name = component_name(component->text)](const Spelling& each) { return component_name(each.theirs) == name; });
  if (found == nullptr) return sheet.assume(*component, "AdamW's states are counted", "optimizer");
  sheet.say("optimizer", found->ours, *component);
  const auto fused = sheet.truth("optimizer.fused");
  if (fused) sheet.say("optimizer_impl", *fused ? "fused" : "foreach", *sheet.find("optimizer.fused"));
  // torch's own default, where recipes of torchtune's own say otherwise
  if (!fused && component->text == "torch.optim.AdamW") sheet.say("optimizer_impl", "foreach", *component);
}

/// The recipe, on the command line alone, says whether there is one accelerator.
void take_recipe(Sheet& sheet) {
  const std::string recipe = sheet.text("positional.0");
  if (recipe.find("single_device") != std::string::npos) sheet.say("gpus", "1", *sheet.find("positional.0"));
  if (recipe.find("distributed") != std::string::npos) sheet.say("sharding", "fsdp2", *sheet.find("positional.0"));
  for (const std::string_view algorithm : {"grpo", "dpo", "ppo"}) {
    if (recipe.find(algorithm) == std::string::npos) continue;
    sheet.by_default("algorithm", std::string(algorithm), "the recipe's name");
    break;
  }
  const bool adapts = recipe.find("lora_") != std::string::npos;  // of weights whole or in few bits, as its file says
  if (adapts && !sheet.has("method"))
    sheet.leave_open("method", "the recipe trains adapters, and the file that says which was not read",
                     *sheet.find("positional.0"));
}

/// recipes/full_finetune_distributed.py: ac_mode counts where the switch for all layers is off.
void take_some_layers(Sheet& sheet) {
  const std::string mode = sheet.text("ac_mode");
  if (mode.empty() || sheet.is_on("enable_activation_checkpointing")) return;
  const auto every = sheet.count("ac_option");
  const Setting& setting = *sheet.find("ac_mode");
  if (mode == "full") sheet.say("recompute", "full", setting);
  if (mode == "selective") sheet.say("recompute", every ? "every-" + std::to_string(*every) : "selective", setting);
}

void take_memory(Sheet& sheet) {
  take_recompute(sheet, {"enable_activation_checkpointing"});
  take_some_layers(sheet);
}

/// recipes/full_finetune_single_device.py: an epoch ends after max_steps_per_epoch optimizer steps.
void take_epochs(Sheet& sheet) {
  const auto steps = sheet.count("max_steps_per_epoch");
  if (!steps || *steps < 1) return take_length(sheet, {{}, {"epochs"}, {"dataset.packed"}});
  const auto all = quantity::checked_multiply(*steps, sheet.count("epochs").value_or(1));
  sheet.say("steps", std::to_string(all), *sheet.find("max_steps_per_epoch"));
}

void write_torchtune_optimizer(Letter& letter) {
  const auto theirs = theirs_for(letter.text("optimizer"), "@torchtune_optimizer");
  if (theirs.empty()) return;
  letter.settings.put("optimizer._component_", theirs);
  const auto implementation = letter.question.training.optimizer_impl;
  if (letter.question.training.optimizer != spec::Optimizer::adamw) return;
  letter.settings.put("optimizer.fused", implementation == spec::OptimizerImpl::fused ? "True" : "False");
}

}  // namespace

void torchtune_rules(Sheet& sheet) {
  take_torchtune_model(sheet);
  take_adapted(sheet);
  take_optimizer(sheet);
  take_recipe(sheet);
  take_memory(sheet);
  take_epochs(sheet);
  if (const Setting* dtype = sheet.find("dtype")) sheet.say("dtype", quantity::to_lower(dtype->text), *dtype);
  if (!sheet.has("seq")) sheet.assume("samples as long as --seq: the file leaves their length to the data");
}

/// torchtune 0.6.1, recipes/lora_finetune_single_device.py and its kin, recipes/configs.
std::string write_torchtune(Letter& letter) {
  const spec::Question& question = letter.question;
  const auto& [training, layout] = std::tie(question.training, question.layout);
  const auto yes = [&](std::string_view key, bool on) { letter.settings.put(key, on ? "True" : "False"); };
  write_rows(letter);
  letter.settings.put("dtype", training.precision.weights == formats::Dtype::fp32 ? "fp32" : "bf16");
  yes("enable_activation_checkpointing", training.recompute.policy == spec::RecomputePolicy::full);
  write_torchtune_optimizer(letter);
  if (has_adapters(question)) write_torchtune_adapters(letter);
  if (const auto name = torchtune_component(question); !name.empty()) letter.settings.put("model._component_", name);
  const std::string nodes = layout.nodes > 1 ? fmt::format(" --nnodes {}", layout.nodes) : "";
  const std::string ranks =
      layout.gpus > 1 ? fmt::format("{} --nproc_per_node {}", nodes, layout.gpus / layout.nodes) : "";
  return letter.settings.options(
      fmt::format("tune run{} {}_finetune_{} --config $CONFIG", ranks, has_adapters(question) ? "lora" : "full",
                  layout.gpus > 1 ? "distributed" : "single_device"),
      Style::assigned);
}

}  // namespace llmcalc::dialects
