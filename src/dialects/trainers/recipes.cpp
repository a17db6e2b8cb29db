// Recipes of trainers that take their models from elsewhere: NeMo AutoModel, MaxText, llm-foundry and Primus.
#include "dialects/trainers/rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <bit>

namespace llmcalc::dialects {
namespace {

constexpr Spelling maxtext_models[] = {
#include "dialects/maxtext_models.inc"
};

/// Says a term where a class's name holds a word.
void take_class(Sheet& sheet, std::string_view key, std::string_view term, std::string_view list) {
  const std::string name = sheet.text(key);
  const auto words = spellings_of(list);
  const auto is_in = [&](const Spelling& word) { return name.find(word.theirs) != std::string::npos; };
  const auto* found = quantity::find_if_or_null(words, is_in);
  if (found != nullptr) sheet.say(term, found->ours, *sheet.find(key));
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

/// transformer_engine/pytorch/optimizers/fused_adam.py, FusedAdam: moments in fp32 whatever the weights' type, unless
/// exp_avg_dtype says another.
void take_fused_adam(Sheet& sheet) {
  const Setting* name = sheet.find("optimizer._target_");
  if (name == nullptr || !name->text.ends_with("FusedAdam")) return;
  if (!sheet.has("optimizer_states")) sheet.say("optimizer_states", "fp32", *name);
  if (sheet.is_on("optimizer.master_weights")) sheet.say("master_weights", "1", sheet.said("optimizer.master_weights"));
}

/// components/datasets, dynamic_batching: batches of so many padded tokens, whatever local_batch_size says.
void take_token_budget(Sheet& sheet) {
  const auto tokens = sheet.count("dataloader.dynamic_batching.max_tokens_per_batch");
  const auto length = sheet.count({"dataset.seq_length", "dataset.seq_len"});
  if (!tokens || !length) return;
  const auto samples = std::max<std::int64_t>(1, *tokens / std::max<std::int64_t>(1, *length));
  const Setting& because = *sheet.find("dataloader.dynamic_batching.max_tokens_per_batch");
  sheet.say("micro_batch", std::to_string(samples), because);
  sheet.assume(because, "batches of as many full samples as its tokens hold");
}

/// Its recipes for retrieval (recipes/retrieval) train an encoder of several texts a sample, and no words.
void refuse_encoders(const Sheet& sheet) {
  const std::string model = sheet.text("model._target_");
  if (model.find("encoder") == std::string::npos) return;
  throw quantity::BadInput(sheet.find("model._target_")->where, "trains an encoder for retrieval, which is not read",
                           "llmcalc fit asks about a model of words");
}

/// A width of configs/base.yml, and by which part of global_parameter_scale it grows.
struct MaxtextWidth {
  std::string_view key;
  std::string_view term;
  std::int64_t usual;
  int first_third;  ///< the rest of the scale's logarithm by 3 from which it grows once more; 3: never
};

/// max_utils.py, get_individual_scales: a scale of 2^n is spread over three kinds of widths. Without a model's name
/// what is not said is of base.yml.
void take_maxtext_shape(Sheet& sheet, bool named) {
  constexpr MaxtextWidth widths[] = {
      {"base_emb_dim", "hidden", 2048, 2},      {"base_num_decoder_layers", "layers", 16, 3},
      {"base_num_query_heads", "heads", 16, 1}, {"base_num_kv_heads", "kv_heads", 16, 1},
      {"base_mlp_dim", "ffn", 7168, 1},         {"base_moe_mlp_dim", "expert_ffn", 7168, 1}};
  const Setting* scale = sheet.find("global_parameter_scale");
  const auto is_said = [&](const MaxtextWidth& width) { return sheet.find(width.key) != nullptr; };
  if (named && !sheet.is_on("override_model_config")) return;
  if (scale == nullptr && std::ranges::none_of(widths, is_said)) return;
  constexpr std::string_view like_llama[] = {"", "default", "llama2", "mistral", "mixtral"};
  if (!named && !quantity::contains(like_llama, std::string_view(sheet.text("decoder_block")))) {
    const Setting& block = *sheet.find("decoder_block");
    for (const auto term : {"head_dim", "vocab", "experts", "top_k", "tied"}) sheet.unsay(term);
    return sheet.leave_open("model", "decoder_block " + block.text + ": its layers are not read from widths", block);
  }
  const auto times = static_cast<std::uint64_t>(sheet.count("global_parameter_scale").value_or(1));
  if (!std::has_single_bit(times))
    throw quantity::BadInput(scale->where, "global_parameter_scale " + scale->text + " is no power of two");
  const int logarithm = std::countr_zero(times);
  for (const auto& [key, term, usual, first_third] : widths) {
    if (term == "expert_ffn" && sheet.count("num_experts").value_or(1) < 2) continue;
    const int doublings = logarithm / 3 + (logarithm % 3 >= first_third ? 1 : 0);
    const auto width = quantity::checked_multiply(sheet.count(key).value_or(usual), std::int64_t{1} << doublings);
    const Setting* because = sheet.find({key, "global_parameter_scale"});
    if (because != nullptr) sheet.say(term, std::to_string(width), *because);
    if (!named) sheet.by_default(term, std::to_string(width), "MaxText default");
  }
  if (named) return;
  sheet.by_default("head_dim", "128", "MaxText default");
  sheet.by_default("vocab", "32000", "MaxText default");
}

constexpr const char* maxtext_levels[] = {"ici_", "dcn_"};

/// The degree of an axis, within nodes or across them, that is the rest of the accelerators.
const Setting* rest_of(const Sheet& sheet, const std::string& axis) {
  for (const char* const level : maxtext_levels) {
    const Setting* setting = sheet.find(level + axis + "_parallelism");
    if (setting != nullptr && setting->text.starts_with('-')) return setting;
  }
  return nullptr;
}

/// A degree within nodes times that across them; 0 where one of them is the rest.
std::int64_t maxtext_degree(const Sheet& sheet, const std::string& axis) {
  if (rest_of(sheet, axis) != nullptr) return 0;
  std::int64_t product = 1;
  for (const char* const level : maxtext_levels) {
    product = quantity::checked_multiply(product, sheet.count(level + axis + "_parallelism").value_or(1));
  }
  return product;
}

void take_maxtext_layout(Sheet& sheet) {
  constexpr Spelling axes[] = {
      {"tensor", "tp"}, {"pipeline", "pp"}, {"context", "cp"}, {"sequence", "cp"}, {"expert", "ep"}};
  const Setting* because = sheet.find({"ici_fsdp_parallelism", "dcn_data_parallelism", "ici_data_parallelism"});
  const std::string is_rest = ": a degree of -1 is the rest of the accelerators";
  const Setting* rest = rest_of(sheet, "fsdp");
  if (rest == nullptr) rest = rest_of(sheet, "data");
  const auto data = maxtext_degree(sheet, "data");
  const bool says = because != nullptr;
  const auto one_way = says && sheet.find("ici_fsdp_parallelism") == nullptr ? 0 : maxtext_degree(sheet, "fsdp");
  const auto shards = quantity::checked_multiply(one_way, maxtext_degree(sheet, "fsdp_transpose"));
  std::int64_t ranks = quantity::checked_multiply(data, shards);
  for (const auto& [axis, term] : axes) {
    const auto degree = maxtext_degree(sheet, std::string(axis));
    ranks = quantity::checked_multiply(ranks, degree);
    if (const Setting* open = rest_of(sheet, std::string(axis))) {
      sheet.leave_open(term, open->key + is_rest, *open);
      rest = open;
    }
    if (degree > 1)
      sheet.say(
          term, std::to_string(degree),
          *sheet.find({"ici_" + std::string(axis) + "_parallelism", "dcn_" + std::string(axis) + "_parallelism"}));
  }
  if (!says) return;
  if (ranks > 1) sheet.say("gpus", std::to_string(ranks), *because);
  if (rest == nullptr) rest = because;
  if (ranks == 0) sheet.leave_open("gpus", rest->key + is_rest, *rest);
  if (data == 1) return;
  const Setting* copies = sheet.find({"dcn_data_parallelism", "ici_data_parallelism"});
  if (shards == 1) sheet.say("sharding", "ddp", *because);
  if (shards > 1) sheet.say("sharding_group", std::to_string(shards), *because);
  if (shards == 0 && data > 1) sheet.assume(*copies, "no copies: weights are spread over all ranks", "sharding_group");
}

/// Tensors that the policy "custom" places one by one (MaxText configs/types.py, RematAndOffload), and those of them
/// that have a name of ours.
constexpr Spelling remat_tensors[] = {
    {"query_proj", "query"}, {"key_proj", "key"}, {"value_proj", "value"}, {"qkv_proj", "query,key,value"},
    {"context", "context"},  {"out_proj", "out"}, {"mlpwi", "gate,up"},    {"mlpwi_0", "gate"},
    {"mlpwi_1", "up"},       {"mlpwo", "down"},   {"attention_out", ""},   {"mla_q", ""},
    {"mla_kv", ""},          {"mla_kv_norm", ""}, {"engram", ""}};

/// MaxText layers/decoders.py, get_remat_policy: a layer runs again but for what has a name on the policy's list.
void take_maxtext_policy(Sheet& sheet) {
  const Setting* policy = sheet.find("remat_policy");
  if (policy == nullptr) return;
  const std::string name = quantity::to_lower(policy->text);
  const auto policies = spellings_of("@remat_policy");
  const auto* row = quantity::find_or_null(policies, std::string_view(name), &Spelling::theirs);
  std::string kept(row == nullptr ? "" : row->ours);
  bool offloads = name.ends_with("offloaded");
  for (const Spelling& tensor : remat_tensors) {
    const std::string where = name == "custom" ? sheet.text(tensor.theirs) : "";
    offloads = offloads || where == "offload";
    if (where != "device") continue;
    if (tensor.ours.empty()) sheet.assume(*sheet.find(tensor.theirs), "it is made again");
    if (!tensor.ours.empty()) kept.append(kept.empty() ? "" : ",").append(tensor.ours);
  }
  if (!kept.empty()) sheet.say("recompute_kept", kept, *policy);
  if (name == "custom" && sheet.text("decoder_layer_input") == "offload") {
    sheet.say("offload", "activations", *sheet.find("decoder_layer_input"));
  }
  if (offloads) sheet.assume(*policy, "what it sends to the host is off the accelerator, and takes no time");
  if (name.ends_with("quantization")) sheet.assume(*policy, "quantized operands are made again");
}

/// models/mpt/configuration_mpt.py and its modules: an MLP of two products, learned positions, tied tables unless said.
void take_mpt(Sheet& sheet) {
  if (sheet.has("model")) return;
  const Setting* name = sheet.find("model.name");
  if (name != nullptr && name->text != "mpt_causal_lm") {
    for (const auto term : {"hidden", "heads", "kv_heads", "layers", "vocab"}) sheet.unsay(term);
    return sheet.leave_open("model", "model.name " + name->text + ": a class of one's own", *name);
  }
  const Setting* width = sheet.find("model.d_model");
  if (width == nullptr) return;
  const Setting* ratio = sheet.find("model.expansion_ratio");
  const double times = ratio == nullptr ? 4 : quantity::parse_real(ratio->text, ratio->where);
  const double ffn = times * static_cast<double>(sheet.count("model.d_model").value_or(0));
  constexpr double widest = 1e9;
  if (!(ffn >= 1 && ffn < widest)) {
    throw quantity::BadInput((ratio == nullptr ? width : ratio)->where,
                             "d_model times expansion_ratio is no width of an MLP");
  }
  sheet.say("ffn", std::to_string(static_cast<std::int64_t>(ffn)), *width);
  sheet.by_default("mlp", "gelu", "MPT default");
  sheet.by_default("norm", "layernorm", "MPT default");
  sheet.by_default("bias", sheet.is_on("model.no_bias") ? "none" : "all", "MPT default");
  const bool rope = sheet.is_on("model.attn_config.rope");
  const bool none = sheet.is_on("model.attn_config.alibi") || sheet.truth("model.learned_pos_emb") == false;
  sheet.by_default("position", rope ? "rope" : none ? "none" : "learned", "MPT default");
  const Setting* kind = sheet.find("model.attn_config.attn_type");
  if (kind != nullptr && kind->text.starts_with("multiquery")) sheet.say("kv_heads", "1", *kind);
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

/// Defaults of primus/configs/modules/megatron, which the file's `config` names.
struct PrimusUsual {
  std::string_view micro_batch, global_batch, seq;
};
constexpr PrimusUsual primus_pretrains{"2", "16", "1024"};  ///< trainer_base.yaml
constexpr PrimusUsual primus_tunes{"1", "128", "2048"};     ///< sft_trainer.yaml

/// sft_trainer.yaml, lora: adapters as Megatron-Bridge names them; its own experiments say the scheme alone.
void take_primus_adapters(Sheet& sheet) {
  const std::string scheme = sheet.text("peft");
  const bool named = scheme == "lora" || scheme == "dora";
  if (!named && !sheet.is_on("lora.enabled")) return;
  const Setting& enabled = named ? *sheet.find("peft") : sheet.said("lora.enabled");
  sheet.say("framework", "megatron-bridge", enabled);
  sheet.say("method", named ? scheme : "lora", enabled);
  sheet.take("lora_rank", {"lora.dim"});
  sheet.take("lora_dropout", {"lora.dropout"});
  take_targets(sheet, {"lora.target_modules"});
  sheet.by_default("lora_rank", "32", "Primus default");
  sheet.by_default("lora_targets", "q,k,v,o,gate,up,down", "Primus default");
}

}  // namespace

void automodel_rules(Sheet& sheet) {
  refuse_encoders(sheet);
  take_class(sheet, "distributed._target_", "sharding", "@automodel_manager");
  take_class(sheet, "optimizer._target_", "optimizer", "@automodel_optimizer");
  take_class(sheet, "loss_fn._target_", "loss", "@automodel_loss");
  take_automodel_adapters(sheet);
  // components/models/common/utils.py, TEFp8Config
  if (const Setting* fp8 = sheet.find({"model.backend.te_fp8.recipe", "model.backend.te_fp8._target_"})) {
    sheet.say("compute", fp8->text == "mxfp8" ? fp8->text : "fp8-e4m3", *fp8);
  }
  take_fused_adam(sheet);
  take_token_budget(sheet);
  if (sheet.count("distributed.ep_size").value_or(1) > 1) {  // components/moe/parallelizer.py, apply_fsdp
    sheet.by_default("reshard", "0", "NeMo AutoModel default");
  }
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
  take_maxtext_shape(sheet, sheet.has("model"));
  if (sheet.has("model") && !sheet.is_on("override_model_config")) {
    for (const auto term : {"head_dim", "vocab", "experts", "top_k", "tied"}) sheet.unsay(term);
  }
  const bool open = sheet.leaves_open("micro_batch", {"per_device_batch_size"});
  const Setting* batch = open ? nullptr : sheet.find("per_device_batch_size");
  if (batch != nullptr && quantity::is_number(quantity::without_end(batch->text, ".0"))) {
    sheet.say("micro_batch", quantity::without_end(batch->text, ".0"), *batch);
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
  take_maxtext_policy(sheet);
  take_maxtext_layout(sheet);
  take_length(sheet, {"steps", {}});
}

void llm_foundry_rules(Sheet& sheet) {
  take_mpt(sheet);
  take_composer_sharding(sheet);
  if (sheet.text("precision") == "amp_fp8") sheet.say("compute", "fp8-e4m3", *sheet.find("precision"));
  if (const Setting* rank = sheet.find("model.peft_config.r")) {
    sheet.say("method", adapter_method(sheet, "", "model.peft_config.use_dora"), *rank);
    sheet.say("lora_rank", rank->text, *rank);
    take_targets(sheet, {"model.peft_config.target_modules"});
  }
  const Setting* duration = sheet.find("max_duration");
  if (duration != nullptr && duration->text.ends_with("ba")) {
    sheet.say("steps", quantity::without_end(duration->text, "ba"), *duration);
  }
  const auto is_evaluated = [](const Setting& setting) { return setting.key.starts_with("eval_loader"); };
  if (std::ranges::any_of(sheet.settings().all(), is_evaluated)) sheet.take("eval_batch", {"device_eval_batch_size"});
  if (!sheet.has("micro_batch"))
    sheet.assume("device_train_microbatch_size auto: one sample at once, --micro-batch says more");
}

/// Values that a variable of the environment may replace: "${PRIMUS_MODEL:deepseek_v3}.yaml".
void take_primus_defaults(Settings& settings) {
  for (Setting& setting : settings.all()) {
    std::string& text = setting.text;
    for (std::size_t at = 0; (at = text.find("${", at)) != text.npos;) {
      const auto end = text.find('}', at);
      const auto colon = text.find(':', at);
      if (end != text.npos && colon < end)
        text.replace(at, end + 1 - at, text.substr(colon + 1, end - colon - 1));
      else
        at += 2;
    }
  }
}

void primus_rules(Sheet& sheet) {
  const Setting& framework =
      *sheet.find({"modules.pre_trainer.framework", "modules.sft_trainer.framework", "modules.post_trainer.framework"});
  const bool by_bridge = framework.text == "megatron_bridge";
  if (framework.text != "megatron" && !by_bridge) {
    throw quantity::BadInput(framework.where, "framework " + quantity::quoted(framework.text) + " is not read",
                             "known are megatron and megatron_bridge, and torchtitan and maxtext by their batch");
  }
  if (by_bridge) sheet.say("framework", "megatron-bridge", framework);
  take_model_file(sheet);
  take_megatron_model(sheet);
  take_megatron_run(sheet);
  take_primus_adapters(sheet);
  const bool tunes = sheet.text("stage") == "sft" || framework.key != "modules.pre_trainer.framework";
  if (tunes) sheet.by_default("algorithm", "sft", "Primus default");
  if (sheet.is_on("enable_packed_sequences")) sheet.say("packing", "1", sheet.said("enable_packed_sequences"));
  if (sheet.text("fp8") == "e4m3" || sheet.text("fp8") == "hybrid")
    sheet.say("compute", "fp8-e4m3", *sheet.find("fp8"));
  if (sheet.truth("bf16").value_or(true) && sheet.find("fp16") == nullptr) {
    sheet.unsay("dtype");
    sheet.by_default("dtype", "bf16", "Primus default");
  }
  const bool shards = sheet.truth("use_distributed_optimizer").value_or(true);
  if (shards) sheet.by_default("sharding", "zero1", "Primus default");
  if (by_bridge)
    return sheet.assume("a recipe of Megatron-Bridge's fills what the file leaves open: its batch, length");
  const PrimusUsual& usual = tunes ? primus_tunes : primus_pretrains;
  sheet.by_default("micro_batch", usual.micro_batch, "Primus default");
  sheet.by_default("global_batch", usual.global_batch, "Primus default");
  sheet.by_default("seq", usual.seq, "Primus default");
}

}  // namespace llmcalc::dialects
