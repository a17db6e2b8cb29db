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
    {"llama2_7b", "llama-2-7b", "llama2"},
    {"llama2_13b", "llama-2-13b", "llama2"},
    {"llama2_70b", "llama-2-70b", "llama2"},
    {"llama3_8b", "llama-3-8b", "llama3"},
    {"llama3_70b", "llama-3-70b", "llama3"},
    {"llama3_1_8b", "llama-3.1-8b", "llama3_1"},
    {"llama3_1_70b", "llama-3.1-70b", "llama3_1"},
    {"llama3_1_405b", "llama-3.1-405b", "llama3_1"},
    {"llama3_2_1b", "llama-3.2-1b", "llama3_2"},
    {"llama3_2_3b", "llama-3.2-3b", "llama3_2"},
    {"llama3_3_70b", "llama-3.3-70b", "llama3_3"},
    {"mistral_7b", "mistral-7b-v0.1", "mistral"},
    {"gemma_2b", "gemma-2b", "gemma"},
    {"gemma_7b", "gemma-7b", "gemma"},
    {"gemma2_2b", "gemma-2-2b", "gemma2"},
    {"gemma2_9b", "gemma-2-9b", "gemma2"},
    {"gemma2_27b", "gemma-2-27b", "gemma2"},
    {"phi3_mini", "phi-3-mini", "phi3"},
    {"qwen2_7b", "qwen2-7b", "qwen2"},
    {"qwen2_0_5b", "qwen2-0.5b", "qwen2"},
    {"qwen2_1_5b", "qwen2-1.5b", "qwen2"},
    {"qwen2_5_0_5b", "qwen2.5-0.5b", "qwen2_5"},
    {"qwen2_5_1_5b", "qwen2.5-1.5b", "qwen2_5"},
    {"qwen2_5_3b", "qwen2.5-3b", "qwen2_5"},
    {"qwen2_5_7b", "qwen2.5-7b", "qwen2_5"},
    {"qwen2_5_14b", "qwen2.5-14b", "qwen2_5"},
    {"qwen2_5_32b", "qwen2.5-32b", "qwen2_5"},
    {"qwen2_5_72b", "qwen2.5-72b", "qwen2_5"},
    {"qwen3_0_6b", "qwen3-0.6b", "qwen3"},
    {"qwen3_1_7b", "qwen3-1.7b", "qwen3"},
    {"qwen3_4b", "qwen3-4b", "qwen3"},
    {"qwen3_8b", "qwen3-8b", "qwen3"},
    {"qwen3_14b", "qwen3-14b", "qwen3"},
    {"qwen3_32b", "qwen3-32b", "qwen3"},
    {"phi4_14b", "phi-4", "phi4"},
    {"llama4_scout_17b_16e", "llama-4-scout", "llama4"},
    {"llama4_maverick_17b_128e", "llama-4-maverick", "llama4"},
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
  const auto* found = quantity::find_or_null(losses, component_name(*loss), &Spelling::theirs);
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

std::string component_name(const Setting& component) {
  const auto dot = component.text.rfind('.');
  return quantity::to_lower(dot == std::string::npos ? component.text : component.text.substr(dot + 1));
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
  std::string name = component_name(*component);
  const bool quantized = name.starts_with("qlora_") || sheet.is_on("model.quantize_base");
  const bool adapts = quantized || name.starts_with("lora_");
  if (adapts && name.find("lora_") != std::string::npos) name.erase(0, name.find("lora_") + 5);
  if (const auto* found = quantity::find_or_null(builders, without_tuning(name), &Builder::name)) {
    sheet.say("model", std::string(found->preset), *component);
  } else {
    sheet.assume(*component, "no public model is known by that name: say --model");
  }
  const std::string_view whole = sheet.is_on("model.use_dora") ? "dora" : "lora";
  sheet.say("method", !adapts ? "full" : quantized ? "qlora" : std::string(whole), *component);
}

}  // namespace llmcalc::dialects
