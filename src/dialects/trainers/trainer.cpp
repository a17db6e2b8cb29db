// transformers' TrainingArguments and trl's configurations, as YAML, JSON or options of a script.
#include "dialects/trainers/rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace llmcalc::dialects {
namespace {

/// Keys that trl's configurations and ModelConfig have beside those of TrainingArguments.
void take_trl(Sheet& sheet) {
  const bool is_trl = sheet.find({"algorithm", "use_peft", "lora_r", "load_in_4bit", "load_in_8bit", "max_length",
                                  "packing", "beta", "loss_type", "num_generations", "use_vllm",
                                  "activation_offloading", "precompute_ref_log_probs"}) != nullptr;
  if (!is_trl) return;
  sheet.unsay("framework");
  sheet.by_default("framework", "trl", "trl's own keys");
}

/// Arguments of another trainer's class, which has others for the model and the method.
void take_owner(Sheet& sheet) {
  const Setting* owner = sheet.find("arguments_of");
  if (owner == nullptr) return;
  sheet.say("framework", owner->text, *owner);
  sheet.assume({.words = fmt::format("{} has other arguments for model, method and adapters: say them", owner->text),
                .term = "method"});
}

/// The switch that puts adapters on the model: trl's, LLaVA's, FastChat's and Qwen's.
const Setting* adapter_switch(const Sheet& sheet) {
  constexpr std::string_view switches[] = {"use_dora", "use_peft", "lora_enable", "use_lora", "q_lora"};
  const auto* key = quantity::find_if_or_null(switches, [&](std::string_view each) { return sheet.is_on(each); });
  return key == nullptr ? nullptr : &sheet.said(*key);
}

void take_method(Sheet& sheet) {
  const Setting* adapts = adapter_switch(sheet);
  const bool quantized = take_quantization(sheet, Nested::no);
  if (adapts == nullptr && !quantized) return;
  const Setting& because =
      adapts != nullptr ? *adapts : *sheet.find({"load_in_4bit", "load_in_8bit", "quantization_bit", "bits"});
  sheet.say("method", adapter_method(sheet, quantized ? "nf4" : ""), because);
  take_targets(sheet, {"lora_target_modules", "lora_modules"});
}

/// artidoro/qlora counts the two parts of a sample, and leaves its adapters out where it tunes all weights (qlora.py,
/// get_accelerate_model).
void take_parts(Sheet& sheet) {
  if (sheet.is_on("full_finetune")) sheet.unsay("lora_rank");
  const auto source = sheet.count("source_max_len");
  const auto target = sheet.count("target_max_len");
  if (!source || !target) return;
  sheet.say("seq", std::to_string(quantity::checked_add(*source, *target)), *sheet.find("target_max_len"));
}

/// A key of trl's configurations, or one of its values, and the trainers that know it.
struct Evidence {
  std::string_view key, values, trainers;
};

/// trl 1.16.0, trainer/*_config.py and scripts/{grpo,rloo}.py, with ORPO's and CPO's of trl/experimental; rpo_alpha,
/// reference_free, model_adapter_name, max_prompt_length and bco: trl 0.19.1, trainer/*_config.py.
constexpr Evidence evidence[] = {
#include "dialects/trl_evidence.inc"
};

/// Algorithms as trl's trainers run them: CPO and a reward model keep no reference, as ORPO, and RLOO samples as GRPO.
constexpr Spelling algorithms[] = {{"cpo", "orpo"}, {"rm", "orpo"}, {"rloo", "grpo"}};

std::string_view run_as(std::string_view trainer) {
  const auto* row = quantity::find_or_null(algorithms, trainer, &Spelling::theirs);
  return row == nullptr ? trainer : row->ours;
}

bool is_met(const Evidence& row, const Sheet& sheet) {
  const Setting* setting = sheet.find(row.key);
  if (setting == nullptr || row.values.empty()) return setting != nullptr;
  const auto known = quantity::pieces_of(row.values, ",");
  return std::ranges::any_of(quantity::pieces_of(setting->text, ","),
                             [&](std::string_view value) { return quantity::contains(known, value); });
}

/// A trainer of trl and the setting that tells it.
struct Told {
  std::string trainer;
  const Setting* because = nullptr;
};

/// A file names its trainer nowhere, since the script does that reads it: those that know all of its keys are left.
Told trainer_by_keys(Sheet& sheet) {
  std::vector<std::string_view> left;
  const Setting* because = nullptr;
  for (const Evidence& row : evidence) {
    if (!is_met(row, sheet)) continue;
    const auto knows = quantity::pieces_of(row.trainers, ",");
    if (because == nullptr) left = knows;
    const auto before = left.size();
    std::erase_if(left, [&](std::string_view trainer) { return !quantity::contains(knows, trainer); });
    if (because == nullptr || left.size() < before) because = sheet.find(row.key);
  }
  if (because == nullptr) return {};
  const bool agree = !left.empty() && std::ranges::all_of(left, [&](std::string_view trainer) {
    return run_as(trainer) == run_as(left.front());
  });
  if (agree) return {std::string(left.front()), because};
  sheet.leave_open("algorithm",
                   left.empty() ? "no trainer of trl knows all of its keys"
                                : because->key + " is of " + quantity::joined(left, ", ") + " alike",
                   *because);
  return {};
}

/// A penalty for leaving the reference is what GRPO and RLOO keep one for: beta, 0 and 0.05 where it is not said.
void take_penalty(Sheet& sheet, std::string_view trainer) {
  const Setting* beta = sheet.find("beta");
  if (run_as(trainer) != "grpo" || (beta == nullptr && trainer != "rloo")) return;
  const bool keeps = beta == nullptr || sheet.is_above_zero("beta");
  const std::string kept = adapter_switch(sheet) == nullptr ? "model" : "base";
  if (beta == nullptr) return sheet.by_default("reference", kept, "trl's RLOOConfig (beta 0.05)");
  sheet.say("reference", keeps ? kept : "none", *beta);
}

void take_algorithm(Sheet& sheet) {
  const Setting* algorithm = sheet.find("algorithm");
  const Told told = algorithm != nullptr ? Told{sheet.text("algorithm"), algorithm} : trainer_by_keys(sheet);
  if (told.because != nullptr) sheet.say("algorithm", run_as(told.trainer), *told.because);
  take_penalty(sheet, told.trainer);
  assume_reward_model(sheet, "algorithm");
}

/// trl 1.16.0, trl/scripts/sft.py: SFTConfig, ModelConfig. $DATA stands for a data set.
void write_training(Letter& letter) {
  const spec::Question& question = letter.question;
  letter.settings.put("model_name_or_path", letter.model);
  letter.settings.put("dataset_name", "$DATA");
  write_rows(letter);
  write_optimizer(letter, "optim");
  write_precision(letter, "dtype", Loads::fp32);
  write_recompute(letter);
  if (question.training.fused_kernels) letter.settings.say("use_liger_kernel", true);
  if (has_adapters(question)) letter.settings.say("use_peft", true);
  write_adapters(letter, {"lora_r", "lora_target_modules", "lora_modules_to_save"});
  if (in_4_bits(question)) letter.settings.say("load_in_4bit", true);
  if (in_4_bits(question) && letter.text("weights").ends_with("-dq")) letter.settings.say("use_bnb_nested_quant", true);
}

/// One process that finds several cards copies the model to each for every step (training_args.py, _setup_devices;
/// trainer.py wraps it in nn.DataParallel).
void take_found_cards(Sheet& sheet) {
  const auto cards = sheet.find("_n_gpu") == nullptr ? std::nullopt : sheet.count("_n_gpu");
  if (cards.value_or(0) > 1)
    sheet.assume(*sheet.find("_n_gpu"), "one card of those of nn.DataParallel, without its gathered outputs");
}

}  // namespace

void trainer_rules(Sheet& sheet) {
  take_trl(sheet);
  take_owner(sheet);
  // DeepSpeed's own programs name their file --deepspeed_config (deepspeed/__init__.py, add_config_arguments).
  const bool alone = sheet.find("deepspeed_config") != nullptr;
  const std::string_view engine = alone ? "deepspeed_config" : "deepspeed";
  const Setting* file = sheet.find(engine);
  const bool owned = sheet.find("arguments_of") != nullptr;
  if (file != nullptr && !says_nothing(*file) && !owned) sheet.say("framework", "deepspeed", *file);
  take_deepspeed(sheet, engine, alone ? "" : "8");
  take_algorithm(sheet);
  take_engine_beside(sheet, trl_engine);
  take_generated_length(sheet, trl_lengths);
  take_method(sheet);
  take_parts(sheet);
  take_accelerate_by_name(sheet, "accelerate_config");
  const bool is_plain = sheet.word("framework")->text == "hf" && !sheet.has("weights");
  const bool follows_method = owned && sheet.is_on("bf16");  // as the framework's own defaults say
  if (!follows_method) take_precision(sheet, {"dtype", "torch_dtype"}, is_plain ? Loads::checkpoint : Loads::fp32);
  if (!sheet.has("dtype") && !sheet.has("weights") && sheet.word("framework")->text == "hf") {
    sheet.assume(
        "no precision is said: weights in the checkpoint's type, as transformers 5 loads them, and no autocast");
  }
  if (!sheet.has("dtype") && sheet.has("weights") && sheet.word("framework")->text == "trl") {
    sheet.by_default("dtype", "mixed-bf16", "trl/trainer/model_config.py: dtype");
  }
  take_recompute(sheet, {"gradient_checkpointing", "activation_checkpointing"});
  take_optimizer_impl(sheet);
  take_found_cards(sheet);
  take_fsdp(sheet, UsualFsdp::transformers);
  widen_under_fsdp(sheet);
  take_liger(sheet, "use_liger_kernel");
  take_evaluation(sheet, evaluates(sheet), "8", "transformers default");
  take_length(sheet, {"max_steps", {"num_train_epochs"}, {"packing"}, "max_train_samples", transformers_epochs});
  assume_full_sequences(sheet, {"packing"});
}

std::string write_trainer(Letter& letter) {
  const auto& [training, layout] = std::tie(letter.question.training, letter.question.layout);
  write_training(letter);
  if (training.framework == spec::Framework::deepspeed) {
    const std::string file = write_deepspeed(letter);
    return file + letter.settings.options(fmt::format("deepspeed --num_nodes {} --num_gpus {} trl/scripts/sft.py",
                                                      layout.nodes, layout.gpus / layout.nodes));
  }
  write_accelerate(letter);
  write_accelerate_engine(letter);
  if (training.framework != spec::Framework::hf) {
    return letter.settings.options(accelerated(letter, "-m trl.scripts.sft"));
  }
  if (has_adapters(letter.question)) return {};
  // transformers examples/pytorch/language-modeling/run_clm.py, whose options of a model are fewer than trl's.
  letter.settings.rename("max_length", "block_size");
  letter.settings.remove("attn_implementation");
  return letter.settings.options(accelerated(letter, "run_clm.py"));
}

}  // namespace llmcalc::dialects
