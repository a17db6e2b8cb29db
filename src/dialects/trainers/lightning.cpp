// Lightning's Trainer as LightningCLI takes it (lightning 2.6.6, pytorch/cli.py, pytorch/trainer/trainer.py), and the
// recipes of LitGPT (litgpt 0.5.13, litgpt/args.py, finetune/full.py, finetune/lora.py, pretrain.py).
#include "dialects/trainers/rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "spec/traits.hpp"

#include <algorithm>

namespace llmcalc::dialects {
namespace {

void write_precision_word(Letter& letter, std::string_view key) {
  const auto theirs = theirs_for(dtype_word(letter.question), "@precision");
  if (!theirs.empty()) letter.settings.put(key, theirs);
}

/// Devices of a node: a number, a list of them, or "auto".
std::optional<std::int64_t> take_devices(Sheet& sheet, std::string_view devices, std::string_view nodes) {
  const Setting* setting = sheet.find(devices);
  const bool is_count = setting != nullptr && quantity::is_number(setting->text);
  if (!is_count && (setting == nullptr || setting->items.empty())) return std::nullopt;
  const auto each = is_count ? sheet.count(devices).value_or(1) : std::ssize(setting->items);
  const auto machines = sheet.count(nodes).value_or(1);
  if (each < 1 || machines < 1 || each > most_ranks / machines) return std::nullopt;
  sheet.say("gpus", std::to_string(each * machines), *setting);
  return each * machines;
}

/// lightning pytorch/strategies/strategy_registry.
struct Strategy {
  std::string_view name;
  std::string_view sharding;
  std::string_view offload = {};
};
constexpr Strategy strategies[] = {
#include "dialects/lightning_strategies.inc"
};

void take_strategy(Sheet& sheet) {
  const Setting* setting = sheet.find("trainer.strategy");
  if (setting == nullptr || says_nothing(*setting)) return;
  const auto* found = quantity::find_or_null(strategies, quantity::to_lower(setting->text), &Strategy::name);
  if (found == nullptr) return sheet.assume(*setting, "weights and optimizer are shared as --sharding says");
  sheet.say("sharding", found->sharding, *setting);
  if (!found->offload.empty()) sheet.say("offload", found->offload, *setting);
}

/// Switches of projections, and whether they are on where nothing is said.
struct Projection {
  std::string_view key;
  std::string_view targets;
  bool usual;
};
constexpr Projection projections[] = {{"lora_query", "q", true},           {"lora_key", "k", false},
                                      {"lora_value", "v", true},           {"lora_projection", "o", false},
                                      {"lora_mlp", "gate,up,down", false}, {"lora_head", "head", false}};

void take_adapted(Sheet& sheet, std::string_view method) {
  const Setting* said = sheet.find("algorithm");
  if (said == nullptr) said = sheet.find({"lora_r", "quantize"});
  if (said != nullptr) sheet.say("method", method, *said);
  if (method == "full" || method == "adapter") return;
  std::string targets;
  const Setting* because = nullptr;
  for (const auto& [key, ours, usual] : projections) {
    const auto on = sheet.truth(key);
    if (on) because = sheet.find(key);
    if (on.value_or(usual)) targets.append(targets.empty() ? "" : ",").append(ours);
  }
  if (because != nullptr) sheet.say("lora_targets", targets, *because);
}

/// "bnb.nf4-dq"; its optimizer is bitsandbytes' paged AdamW (litgpt/utils.py, instantiate_bnb_optimizer).
bool take_quantized(Sheet& sheet) {
  const Setting* quantize = sheet.find("quantize");
  if (quantize == nullptr || says_nothing(*quantize)) return false;
  const std::string scheme = quantity::to_lower(quantize->text);
  const auto name = quantity::without_start(scheme, "bnb.");
  sheet.say("weights", name.starts_with("int8") ? "int8" : std::string(name), *quantize);
  return true;
}

/// A step takes global_batch_size // ranks // micro_batch_size micro-batches (litgpt/args.py, TrainArgs).
void take_batch(Sheet& sheet, bool pretrains) {
  const auto ranks = take_devices(sheet, "devices", "num_nodes");
  const Setting* global = sheet.find("train.global_batch_size");
  const auto micro = sheet.count("train.micro_batch_size").value_or(pretrains ? 4 : 1);
  if (pretrains && !ranks && global != nullptr) return sheet.say("global_batch", global->text, *global);
  const auto all = sheet.count("train.global_batch_size").value_or(pretrains ? 512 : 16);
  const auto each = std::max<std::int64_t>(1, all / ranks.value_or(1) / std::max<std::int64_t>(1, micro));
  if (global != nullptr) return sheet.say("grad_accum", std::to_string(each), *global);
  sheet.by_default("grad_accum", std::to_string(each), "LitGPT default");
}

/// litgpt/config.py, Config: a model of one's own counts before a name, and what it leaves out is GPT-NeoX's.
void take_own_model(Sheet& sheet) {
  const Setting* layers = sheet.find("model_config.n_layer");
  if (layers == nullptr || !sheet.has("hidden")) return;
  sheet.unsay("model");
  sheet.by_default("mlp", "gelu", "LitGPT default");
  sheet.by_default("norm", "layernorm", "LitGPT default");
  sheet.by_default("bias", "all", "LitGPT default");
  sheet.by_default("position", "rope", "LitGPT default");
  sheet.by_default("tied", "0", "LitGPT default");
  constexpr std::int64_t padding_multiple = 512;
  const Setting* vocabulary = sheet.find("model_config.vocab_size");
  if (vocabulary == nullptr || sheet.has("vocab")) return;
  const auto rows = quantity::ceil_to(sheet.count("model_config.vocab_size").value_or(0), padding_multiple);
  sheet.say("vocab", std::to_string(rows), *vocabulary);
}

/// finetune/lora.py: what it starts no run with.
void refuse_mixed_quantized(Sheet& sheet) {
  const Setting& quantize = *sheet.find("quantize");
  const Given* dtype = sheet.word("dtype");
  const Given* ranks = sheet.word("gpus");
  if (dtype != nullptr && dtype->text.starts_with("mixed"))
    throw quantity::BadInput(quantize.where, "LitGPT quantizes no model under mixed precision",
                             "precision: bf16-true is what it takes beside quantize");
  if (ranks != nullptr && ranks->text != "1")
    throw quantity::BadInput(quantize.where,
                             "LitGPT trains a quantized model on one accelerator, not on " + ranks->text);
}

}  // namespace

void lightning_rules(Sheet& sheet) {
  take_devices(sheet, "trainer.devices", "trainer.num_nodes");
  take_strategy(sheet);
  const Setting* optimizer = sheet.find("optimizer.class_path");
  if (optimizer != nullptr && quantity::to_lower(optimizer->text).ends_with(".sgd"))
    sheet.say("optimizer", "sgd", *optimizer);
  take_length(sheet, {"trainer.max_steps", {"trainer.max_epochs"}});
}

std::string write_lightning(Letter& letter) {
  const spec::Layout& layout = letter.question.layout;
  letter.settings.put("model.model_name", letter.model);
  letter.settings.put("trainer.devices", layout.gpus / layout.nodes);
  letter.settings.put("trainer.num_nodes", layout.nodes);
  const auto is_it = [&, offload = letter.text("offload")](const Strategy& each) {
    return each.sharding == letter.text("sharding") && (each.offload.empty() ? "none" : each.offload) == offload;
  };
  if (const auto* found = quantity::find_if_or_null(strategies, is_it)) {
    letter.settings.put("trainer.strategy", found->name);
  }
  write_precision_word(letter, "trainer.precision");
  write_rows(letter);
  return letter.settings.options("python main.py fit");
}

void litgpt_rules(Sheet& sheet) {
  // "checkpoints/org/name" is where `litgpt download` puts a model of the Hub.
  if (const Setting* from = sheet.find({"checkpoint_dir", "initial_checkpoint_dir", "positional.0"})) {
    sheet.say("model", quantity::without_start(from->text, "checkpoints/"), *from);
  } else {
    sheet.take("model", {"checkpoint_dir", "positional.0"});
  }
  const std::string program = sheet.text("algorithm");
  const bool quantized = take_quantized(sheet);
  const bool adapts = program == "lora" || (program.empty() && sheet.find("lora_r") != nullptr);
  take_adapted(sheet, adapts && quantized ? "qlora" : adapts ? "lora" : program == "adapter" ? "adapter" : "full");
  take_batch(sheet, program == "full" ? false : program == "pretrain" || sheet.find("model_name") != nullptr);
  if (quantized) refuse_mixed_quantized(sheet);
  take_own_model(sheet);
  take_length(sheet, {"train.max_steps", {"train.epochs"}});
}

std::string write_litgpt(Letter& letter) {
  const spec::Layout& layout = letter.question.layout;
  const spec::Training& training = letter.question.training;
  write_precision_word(letter, "precision");
  letter.settings.put("devices", layout.gpus / layout.nodes);
  letter.settings.put("num_nodes", layout.nodes);
  write_rows(letter);
  letter.settings.put("train.global_batch_size", training.global_batch);
  if (!has_adapters(letter.question)) return letter.settings.options("litgpt finetune_full " + letter.model);
  letter.settings.put("lora_r", training.adapter.rank);
  letter.settings.put("lora_dropout", letter.text("lora_dropout"));
  for (const auto& [key, targets, usual] : projections) {
    const auto names = quantity::pieces_of(targets, ",");
    const bool all = quantity::contains(training.adapter.targets, std::string_view("all-linear")) && key != "lora_head";
    const bool on = std::ranges::all_of(
        names, [&](std::string_view name) { return all || quantity::contains(training.adapter.targets, name); });
    letter.settings.say(key, on);
  }
  if (in_4_bits(letter.question)) letter.settings.put("quantize", "bnb." + letter.text("weights"));
  return letter.settings.options("litgpt finetune_lora " + letter.model);
}

}  // namespace llmcalc::dialects
