// Recipes of trainers that take their models from elsewhere: NeMo AutoModel, MaxText, llm-foundry and Primus.
#include "dialects/core/format.hpp"
#include "dialects/trainers/rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"
#include "quantity/text.hpp"

#include <string>

namespace llmcalc::dialects {
namespace {

constexpr Spelling maxtext_models[] = {
#include "dialects/maxtext_models.inc"
};

/// Says a term where a class's name holds a word.
void take_class(Sheet& sheet, std::string_view key, std::string_view term, std::span<const Spelling> words) {
  const std::string name = sheet.text(key);
  const auto is_in = [&](const Spelling& word) { return name.find(word.theirs) != std::string::npos; };
  const auto* found = quantity::find_if_or_null(words, is_in);
  if (found != nullptr) sheet.say(term, std::string(found->ours), *sheet.find(key));
}

/// components/_peft/lora.py, PeftConfig. Whatever is a linear layer is one of all, the head as well, where nothing but
/// exclusions is said (module_matcher.py, ModuleMatcher.match).
void take_automodel_adapters(Sheet& sheet) {
  const Setting* dim = sheet.find({"peft.dim", "peft._target_", "peft.match_all_linear"});
  if (dim == nullptr) return;
  const bool quantized = sheet.is_on("quantization.load_in_4bit");
  sheet.say("method", adapter_method(sheet, quantized ? "nf4-dq" : "", "peft.use_dora"), *dim);
  sheet.say("lora_rank", sheet.count("peft.dim") ? sheet.find("peft.dim")->text : "8", *dim);
  take_targets(sheet, {"peft.target_modules"});
  const Setting* excluded = sheet.find("exclude_modules");
  const Setting* all = sheet.is_on("peft.match_all_linear") ? &sheet.said("peft.match_all_linear") : excluded;
  if (all == nullptr || says_nothing(*all)) return;
  const bool leaves_head = excluded != nullptr && excluded->text.find("lm_head") != std::string::npos;
  sheet.say("lora_targets", leaves_head ? "all-linear" : "all-linear,head", *all);
}

/// A degree within nodes times that across them; 0 where one of them is the rest.
std::int64_t maxtext_degree(const Sheet& sheet, const std::string& axis) {
  std::int64_t product = 1;
  for (const char* const level : {"ici_", "dcn_"}) {
    const Setting* setting = sheet.find(level + axis + "_parallelism");
    if (setting != nullptr && setting->text.starts_with('-')) return 0;
    product = quantity::checked_multiply(product, sheet.count(level + axis + "_parallelism").value_or(1));
  }
  return product;
}

void take_maxtext_layout(Sheet& sheet) {
  constexpr Spelling axes[] = {
      {"tensor", "tp"}, {"pipeline", "pp"}, {"context", "cp"}, {"sequence", "cp"}, {"expert", "ep"}};
  const Setting* because = sheet.find({"ici_fsdp_parallelism", "dcn_data_parallelism", "ici_data_parallelism"});
  const auto data = maxtext_degree(sheet, "data");
  const bool says = because != nullptr;
  const auto shards = says && sheet.find("ici_fsdp_parallelism") == nullptr ? 0 : maxtext_degree(sheet, "fsdp");
  std::int64_t ranks = quantity::checked_multiply(data, shards);
  for (const auto& [axis, term] : axes) {
    const auto degree = maxtext_degree(sheet, std::string(axis));
    ranks = quantity::checked_multiply(ranks, degree);
    if (degree > 1)
      sheet.say(
          term, std::to_string(degree),
          *sheet.find({"ici_" + std::string(axis) + "_parallelism", "dcn_" + std::string(axis) + "_parallelism"}));
  }
  if (!says) return;
  if (ranks > 1) sheet.say("gpus", std::to_string(ranks), *because);
  if (ranks == 0) sheet.leave_open("gpus", because->key + ": a degree of -1 is the rest of the accelerators", *because);
  if (shards == 1 && data != 1) sheet.say("sharding", "ddp", *because);
}

/// models/mpt/configuration_mpt.py and its modules: an MLP of two products, learned positions, tied tables unless said.
void take_mpt(Sheet& sheet) {
  const Setting* width = sheet.find("model.d_model");
  if (width == nullptr || sheet.has("model")) return;
  const auto ratio = sheet.count("model.expansion_ratio").value_or(4);
  sheet.say("ffn", std::to_string(quantity::checked_multiply(ratio, sheet.count("model.d_model").value_or(0))), *width);
  sheet.by_default("mlp", "gelu", "MPT default");
  sheet.by_default("norm", "layernorm", "MPT default");
  sheet.by_default("bias", sheet.is_on("model.no_bias") ? "none" : "all", "MPT default");
  const bool rope = sheet.is_on("model.attn_config.rope");
  const bool none = sheet.is_on("model.attn_config.alibi") || sheet.truth("model.learned_pos_emb") == false;
  sheet.by_default("position", rope ? "rope" : none ? "none" : "learned", "MPT default");
  sheet.by_default("tied", sheet.truth("model.tie_word_embeddings").value_or(true) ? "1" : "0", "MPT default");
}

/// composer distributed/mosaic_parallelism.py: FSDP where the file has its block, DDP where it has none.
void take_composer_sharding(Sheet& sheet) {
  const auto of_block = [](const Setting& setting) { return setting.key.starts_with("fsdp_config."); };
  const auto* first = quantity::find_if_or_null(sheet.settings().all(), of_block);
  if (first == nullptr) return;
  const std::string strategy = sheet.text("fsdp_config.sharding_strategy");
  const bool hybrid = strategy.starts_with("hybrid");
  sheet.say("sharding", strategy == "no_shard" ? "ddp" : hybrid ? "hsdp" : "fsdp1", *first);
  if (strategy == "shard_grad_op") sheet.say("reshard", "0", *sheet.find("fsdp_config.sharding_strategy"));
}

}  // namespace

void automodel_rules(Sheet& sheet) {
  constexpr Spelling managers[] = {{"megatronfsdp", "zero3"}, {"nvfsdp", "zero3"}, {"ddp", "ddp"}, {"fsdp2", "fsdp2"}};
  constexpr Spelling optimizers[] = {
      {"adamw8bit", "adamw-8bit"}, {"fusedadam", "adamw"}, {"adam", "adamw"}, {"muon", "muon"}, {"sgd", "sgd"}};
  constexpr Spelling losses[] = {{"fusedlinear", "fused-linear"}, {"chunked", "chunked"}, {"teparallel", "te-fused"}};
  take_class(sheet, "distributed._target_", "sharding", managers);
  take_class(sheet, "optimizer._target_", "optimizer", optimizers);
  take_class(sheet, "loss_fn._target_", "loss", losses);
  take_automodel_adapters(sheet);
  sheet.by_default("dtype", "bf16", "NeMo AutoModel default");
  sheet.by_default("sharding", "fsdp2", "NeMo AutoModel default");
  if (sheet.count("distributed.tp_size").value_or(1) < 2) sheet.unsay("sp");
  if (sheet.count("distributed.pp_size").value_or(1) > 1) {  // a local batch is what a pipeline cuts
    sheet.by_default("micro_batch", "1", "NeMo AutoModel default");
    sheet.take("micro_batch", {"distributed.pipeline.pp_microbatch_size", "autopipeline.pp_microbatch_size"});
  }
  if (sheet.count("distributed.dp_replicate_size").value_or(1) > 1) {
    sheet.say("sharding", "hsdp", *sheet.find("distributed.dp_replicate_size"));
  }
  if (sheet.is_above_zero("packed_sequence.packed_sequence_size")) {
    sheet.take("seq", {"packed_sequence.packed_sequence_size"});
    sheet.say("packing", "1", *sheet.find("packed_sequence.packed_sequence_size"));
  }
  take_cluster(sheet, "slurm.ntasks_per_node", "slurm.nodes", 1);
  take_length(sheet, {"step_scheduler.max_steps", {}});
  assume_full_sequences(sheet, {});
}

void maxtext_rules(Sheet& sheet) {
  take_model_file(sheet);
  const Setting* name = sheet.find("model_name");
  if (name != nullptr && name->text != "default") {
    const auto* ours = quantity::find_or_null(maxtext_models, std::string_view(name->text), &Spelling::theirs);
    sheet.say("model", ours == nullptr ? name->text : std::string(ours->ours), *name);
  }
  if (sheet.has("model") && !sheet.is_on("override_model_config")) {
    for (const auto term :
         {"hidden", "layers", "heads", "kv_heads", "ffn", "expert_ffn", "head_dim", "vocab", "experts", "top_k"})
      sheet.unsay(term);
  }
  const Setting* batch = sheet.find("per_device_batch_size");
  if (batch != nullptr && quantity::is_number(quantity::without_end(batch->text, ".0"))) {
    sheet.say("micro_batch", std::string(quantity::without_end(batch->text, ".0")), *batch);
  } else if (batch != nullptr) {
    sheet.leave_open("micro_batch", "per_device_batch_size " + batch->text + ": a sequence over several accelerators",
                     *batch);
  }
  if (sheet.text("dtype") == "float32") sheet.say("dtype", "fp32", *sheet.find("dtype"));
  for (const auto key : {"use_dpo", "use_grpo"}) {
    if (sheet.is_on(key)) sheet.say("algorithm", key + std::string_view("use_").size(), sheet.said(key));
  }
  if (sheet.is_above_zero("lora_rank")) {
    sheet.say("method", "lora", *sheet.find("lora_rank"));
    sheet.take("lora_rank", {"lora_rank"});
  }
  take_maxtext_layout(sheet);
  take_length(sheet, {"steps", {}});
}

void llm_foundry_rules(Sheet& sheet) {
  take_mpt(sheet);
  take_composer_sharding(sheet);
  sheet.by_default("dtype", "mixed-bf16", "llm-foundry default");
  if (const Setting* rank = sheet.find("model.peft_config.r")) {
    sheet.say("method", "lora", *rank);
    sheet.say("lora_rank", rank->text, *rank);
    take_targets(sheet, {"model.peft_config.target_modules"});
  }
  const Setting* duration = sheet.find("max_duration");
  if (duration != nullptr && duration->text.ends_with("ba")) {
    sheet.say("steps", std::string(quantity::without_end(duration->text, "ba")), *duration);
  }
  if (sheet.settings().has("device_train_microbatch_size") && !sheet.has("micro_batch")) {
    sheet.assume(*sheet.find("device_train_microbatch_size"), "one sample at once: say --micro-batch");
  }
}

/// Values that a variable of the environment may replace: "${PRIMUS_SEQ_LENGTH:8192}".
void take_primus_defaults(Settings& settings) {
  for (Setting& setting : settings.all()) {
    const auto colon = setting.text.find(':');
    if (!setting.text.starts_with("${") || !setting.text.ends_with('}') || colon == std::string::npos) continue;
    setting.text = setting.text.substr(colon + 1, setting.text.size() - colon - 2);
  }
}

/// primus/configs/modules/megatron/pre_trainer.yaml, which the file's `config` names.
void primus_rules(Sheet& sheet) {
  const Setting& framework =
      *sheet.find({"modules.pre_trainer.framework", "modules.sft_trainer.framework", "modules.post_trainer.framework"});
  if (framework.text != "megatron") {
    throw quantity::BadInput(framework.where, "framework " + quantity::quoted(framework.text) + " is not read",
                             "known are megatron, torchtitan and maxtext");
  }
  take_model_file(sheet);
  take_megatron_model(sheet);
  take_megatron_run(sheet);
  if (sheet.text("fp8") == "e4m3" || sheet.text("fp8") == "hybrid")
    sheet.say("compute", "fp8-e4m3", *sheet.find("fp8"));
  if (sheet.truth("bf16").value_or(true) && sheet.find("fp16") == nullptr) {
    sheet.unsay("dtype");
    sheet.by_default("dtype", "bf16", "Primus default");
  }
  const bool shards = sheet.truth("use_distributed_optimizer").value_or(true);
  if (shards) sheet.by_default("sharding", "zero1", "Primus default");
  sheet.by_default("micro_batch", "2", "Primus default");
  sheet.by_default("global_batch", "16", "Primus default");
  sheet.by_default("seq", "1024", "Primus default");
}

}  // namespace llmcalc::dialects
