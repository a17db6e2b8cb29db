// What torchtune trains: components are named by their Python builders, which say model and method
// (torchtune/models/<family>/_model_builders.py), and losses by their classes.
#include "dialects/trainers/torchtune_model.hpp"

#include "dialects/core/format.hpp"
#include "dialects/trainers/torch_rules.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/spec/question.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace llmcalc::dialects {
namespace {

struct Builder {
  std::string_view name;
  std::string_view preset;
  std::string_view family;  ///< the module of torchtune.models
};
constexpr Builder builders[] = {
#include "dialects/torchtune_builders.inc"
};

/// torchtune/rlhf/loss: whose loss it is.
constexpr Spelling losses[] = {
    {"dpoloss", "dpo"}, {"rsoloss", "dpo"}, {"ppoloss", "ppo"}, {"grpoloss", "grpo"}, {"grposimpleloss", "grpo"}};

/// Tunings of a model have its shape.
std::string_view without_tuning(std::string_view name) {
  return quantity::without_end(quantity::without_end(name, "_instruct"), "_base");
}

/// Other recipes have files of the same form: those that generate, evaluate and quantize train nothing.
void refuse_other_recipes(const Sheet& sheet) {
  if (sheet.settings().has("optimizer._component_")) return;
  for (const auto& [key, does] : {Spelling{"max_new_tokens", "generates text"}, Spelling{"tasks", "evaluates"},
                                  Spelling{"quantizer._component_", "quantizes"}}) {
    const Setting* setting = sheet.settings().find(key);
    if (setting == nullptr) continue;
    throw quantity::BadInput(setting->where, "this recipe of torchtune " + std::string(does) + " and trains nothing",
                             "name a configuration with an optimizer, or ask llmcalc serve --model NAME");
  }
}

void take_loss(Sheet& sheet) {
  const Setting* loss = sheet.find("loss._component_");
  if (loss == nullptr) return;
  const bool in_chunks =
      loss->text.find("Chunked") != std::string::npos || loss->text.find("LinearCrossEntropy") != std::string::npos;
  if (in_chunks) sheet.say("loss", "chunked", *loss);
  const auto* found = quantity::find_or_null(losses, component_name(loss->text), &Spelling::theirs);
  if (found != nullptr) sheet.say("algorithm", std::string(found->ours), *loss);
}

/// recipes/ppo_full_finetune_single_device.py: an update takes ppo_batch_size samples, in as many parts as gradients
/// accumulate; batch_size counts those that are generated before.
void take_policy_batch(Sheet& sheet) {
  const auto update = sheet.count("ppo_batch_size");
  const auto parts = sheet.count("gradient_accumulation_steps").value_or(1);
  if (!update || parts < 1 || *update % parts != 0) return;
  sheet.say("micro_batch", std::to_string(*update / parts), *sheet.find("ppo_batch_size"));
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
  if (found != nullptr) sheet.say("model", std::string(found->preset), *recipe);
  const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  sheet.say("method", has("qlora") ? "qlora" : has("dora") ? "dora" : has("lora") ? "lora" : "full", *recipe);
}

}  // namespace

std::string component_name(std::string_view component) {
  return quantity::to_lower(component.substr(component.rfind('.') + 1));
}

std::string torchtune_component(const spec::Question& question) {
  const auto* found = quantity::find_or_null(builders, std::string_view(question.model.shape.name), &Builder::preset);
  if (found == nullptr) return {};
  const std::string_view method = in_4_bits(question) ? "qlora_" : has_adapters(question) ? "lora_" : "";
  return fmt::format("torchtune.models.{}.{}{}", found->family, method, found->name);
}

void take_torchtune_model(Sheet& sheet) {
  refuse_other_recipes(sheet);
  take_recipe_name(sheet);
  take_loss(sheet);
  take_policy_batch(sheet);
  const Setting* component = sheet.find({"model._component_", "policy_model._component_"});
  if (component == nullptr) return;
  std::string name = component_name(component->text);
  const bool quantized = name.starts_with("qlora_") || sheet.is_on("model.quantize_base");
  const bool adapts = quantized || name.starts_with("lora_");
  if (adapts && name.find("lora_") != std::string::npos) name.erase(0, name.find("lora_") + 5);
  if (const auto* found = quantity::find_or_null(builders, without_tuning(name), &Builder::name)) {
    sheet.say("model", std::string(found->preset), *component);
  } else {
    sheet.assume(*component, "no public model is known by that name", "model");
  }
  const std::string_view whole = sheet.is_on("model.use_dora") ? "dora" : "lora";
  sheet.say("method", !adapts ? "full" : quantized ? "qlora" : std::string(whole), *component);
}

}  // namespace llmcalc::dialects
