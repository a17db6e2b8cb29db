// axolotl's YAML (axolotl utils/schemas/config.py).
#include "dialects/trainers/rules.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"
#include "spec/roles.hpp"

#include <algorithm>

namespace llmcalc::dialects {
namespace {

void take_adapter(Sheet& sheet) {
  const std::string adapter = sheet.text("adapter");
  const bool quantized = take_quantization(sheet, Nested::yes);
  if (adapter.empty()) return;
  if (adapter == "qlora" && sheet.is_on("load_in_8bit")) {  // utils/schemas/peft.py, validate_qlora
    throw quantity::BadInput(sheet.said("load_in_8bit").where, "axolotl loads no qlora in 8 bits",
                             "load_in_4bit, or adapter: lora");
  }
  const std::string_view narrow = quantized || adapter == "qlora" ? "nf4-dq" : "";
  sheet.say("method", adapter_method(sheet, narrow, "peft_use_dora"), *sheet.find("adapter"));
  take_targets(sheet, {"lora_target_modules"});
  if (!sheet.is_on("lora_target_linear")) return;
  // With what is named beside (loaders/adapter.py, _build_peft_lora_config): tables, the head.
  std::string targets(spec::all_linear_word);
  const auto linear = spec::roles_of({targets});
  const Given* named = sheet.word("lora_targets");
  for (const auto word : quantity::pieces_of(named == nullptr ? std::string_view() : named->text, ",")) {
    if ((spec::roles_of({std::string(word)}) & ~linear).any()) targets.append(",").append(word);
  }
  sheet.say("lora_targets", targets, sheet.said("lora_target_linear"));
}

/// Plugins are named by their Python class; each of Liger's kernels has its own switch.
void take_plugins(Sheet& sheet) {
  const std::string plugins = sheet.text("plugins");
  const bool liger = plugins.find("liger") != std::string::npos;
  const bool any = sheet.is_on("liger_rope") || sheet.is_on("liger_rms_norm") || sheet.is_on("liger_swiglu") ||
                   sheet.is_on("liger_glu_activation");
  if (liger && any) sheet.say("fused_kernels", "1", *sheet.find("plugins"));
  if (liger && sheet.is_on("liger_fused_linear_cross_entropy")) {
    sheet.say("loss", "fused-linear", sheet.said("liger_fused_linear_cross_entropy"));
  }
  if (plugins.find("cut_cross_entropy") != std::string::npos) sheet.say("loss", "cut", *sheet.find("plugins"));
}

/// accelerate's ParallelismConfig takes all ranks, and axolotl's experts an axis of their own beside those that shard
/// (integrations/expert_parallel): where sharding is said, they are counted.
void take_world(Sheet& sheet, std::int64_t shards, std::int64_t replicas) {
  const Setting* because = sheet.find("dp_shard_size");
  if (because == nullptr) return;
  std::int64_t ranks = 1;
  for (const auto degree : {shards, replicas, sheet.count("tensor_parallel_size").value_or(1),
                            sheet.count("expert_parallel_size").value_or(1),
                            sheet.count({"context_parallel_size", "sequence_parallel_degree"}).value_or(1)}) {
    if (degree < 1 || ranks > most_ranks / degree) return;
    ranks *= degree;
  }
  if (ranks > 1) sheet.say("gpus", std::to_string(ranks), *because);
}

void take_mesh(Sheet& sheet) {
  const auto shards = sheet.count("dp_shard_size").value_or(1);
  const auto replicas = sheet.count("dp_replicate_size").value_or(1);
  take_world(sheet, shards, replicas);
  if (shards <= 1 || replicas <= 1) return;
  sheet.say("sharding", "hsdp", *sheet.find("dp_replicate_size"));
  sheet.say("sharding_group", std::to_string(shards), *sheet.find("dp_shard_size"));
}

/// It evaluates on a part of the data or on other data, with the batch of the training where no other is said
/// (axolotl utils/config, normalize_config); no part of a stream is kept for it (utils/data/sft.py,
/// _prepare_streaming_dataset).
bool validates(const Sheet& sheet) {
  const auto has = [&](std::string_view part) {
    return std::ranges::any_of(sheet.settings().all(),
                               [&](const Setting& setting) { return setting.key.starts_with(part); });
  };
  return has("test_datasets") || (sheet.is_above_zero("val_set_size") && !has("pretraining_dataset"));
}

/// Weights are loaded in fp32 without bf16 and fp16, beside eight bits in fp16 (utils/config, resolve_dtype).
void take_single(Sheet& sheet) {
  if (sheet.has("dtype") || sheet.truth("bf16").value_or(true)) return;
  sheet.say("dtype", sheet.is_on("load_in_8bit") ? "fp16" : "fp32", *sheet.find("bf16"));
}

}  // namespace

void axolotl_rules(Sheet& sheet) {
  take_deepspeed(sheet, "deepspeed", "1");
  take_engine_beside(sheet, trl_engine);
  assume_reward_model(sheet, "reward_model");
  take_generated_length(sheet,
                        sheet.find("max_prompt_len") != nullptr ? Lengths{"max_prompt_len", 256} : axolotl_lengths);
  take_adapter(sheet);
  take_precision(sheet, {"torch_dtype"}, Loads::half);
  take_single(sheet);
  take_recompute(sheet, {"gradient_checkpointing"});
  take_optimizer_impl(sheet);
  take_fsdp(sheet);
  take_mesh(sheet);
  // Its own fsdp2_prepare_model leaves weights as they are (axolotl monkeypatch/accelerate/fsdp2.py).
  if (sheet.count({"fsdp_version", "fsdp_config.fsdp_version", "fsdp_config.version"}) != 2) widen_under_fsdp(sheet);
  take_plugins(sheet);
  take_evaluation(sheet, validates(sheet), {}, "axolotl default");
  // utils/schemas/training.py, HyperparametersConfig
  take_length(sheet, {"max_steps", {"num_epochs"}, {"sample_packing"}, {}, {"1", "axolotl default"}});
  assume_full_sequences(sheet, {"sample_packing"});
}

/// axolotl 0.19.0, axolotl/utils/schemas/config.py, peft.py, training.py and model.py.
std::string write_axolotl(Letter& letter) {
  const spec::Question& question = letter.question;
  letter.settings.put("base_model", letter.model);
  write_rows(letter);
  write_optimizer(letter, "optimizer");
  write_precision(letter, "torch_dtype", Loads::half);
  write_recompute(letter);
  if (has_adapters(question)) letter.settings.put("adapter", in_4_bits(question) ? "qlora" : "lora");
  write_adapters(letter, {"lora_r", "lora_target_modules", "lora_modules_to_save", {}, ", "});
  if (in_4_bits(question)) letter.settings.say("load_in_4bit", true);
  write_fsdp(letter, false);
  const std::string engine = write_deepspeed(letter);
  return engine + file_text("run.yaml", letter.settings.yaml()) + accelerated(letter, "-m axolotl.cli.train run.yaml");
}

}  // namespace llmcalc::dialects
