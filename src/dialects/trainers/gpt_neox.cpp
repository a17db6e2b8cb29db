// GPT-NeoX's files (EleutherAI/gpt-neox megatron/neox_arguments), in which the layers of Megatron-LM and the engine of
// DeepSpeed are described together: YAML or JSON, keys with '-' or '_'.
#include "dialects/trainers/rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <array>

namespace llmcalc::dialects {
namespace {

std::int64_t number(const Settings& settings, std::string_view key) {
  const Setting* setting = settings.find(key);
  std::string_view text = setting == nullptr ? std::string_view() : std::string_view(setting->text);
  return quantity::take_number<std::int64_t>(text).value_or(0);
}

constexpr std::int64_t usual_multiple = 256;  // megatron/model/transformer.py, ParallelMLP and LLaMAParallelMLP
constexpr std::int64_t widest = std::int64_t{1} << 31;

/// Width of each half of a gated MLP (megatron/model/transformer.py): LLaMAParallelMLP takes what is said, ParallelMLP
/// two thirds of that, in two halves.
void take_gated_width(Settings& settings, const Setting& gate, bool as_llama) {
  const auto hidden = number(settings, "hidden_size");
  const auto said = number(settings, "ffn_hidden_size");
  if (hidden < 1 || hidden > widest || said < 0 || said > widest || (as_llama && said > 0)) return;
  const auto whole = said > 0 ? said : 4 * hidden;
  const auto multiple =
      std::max<std::int64_t>(1, settings.has("mlp_multiple_of") ? number(settings, "mlp_multiple_of") : usual_multiple);
  if (multiple > widest) return;
  const auto half = as_llama ? 2 * hidden * 4 / 3 : whole * 2 / 3 / 2;
  const Setting because = settings.has("ffn_hidden_size") ? *settings.find("ffn_hidden_size") : gate;
  settings.say("ffn_hidden_size", std::to_string(quantity::ceil_to(half, multiple)), because);
}

void take_mlp_kind(Settings& settings) {
  const bool as_llama = settings.text("mlp_type") == "llama";
  const bool gated =
      quantity::contains(std::array<std::string_view, 3>{"swiglu", "geglu", "reglu"}, settings.text("activation"));
  if (!as_llama && !gated) return;
  const Setting gate = *settings.find(as_llama ? "mlp_type" : "activation");
  take_gated_width(settings, gate, as_llama);
  settings.say("swiglu", "true", gate);
}

/// The tokenizer of GPT-NeoX-20B (EleutherAI/gpt-neox-20b, tokenizer.json) by the name that its project gives its file.
void take_tokenizer(Settings& settings) {
  constexpr std::string_view file = "20b_tokenizer";
  constexpr auto tokens = "50277";
  const Setting* vocabulary = settings.find("vocab_file");
  if (vocabulary == nullptr || settings.text("vocab_file").find(file) == std::string::npos) return;
  settings.say("vocab_size", tokens, *vocabulary);
}

/// arguments.py, calculate_derived: one block, or `precision` without any; fp32 otherwise.
void take_types(Sheet& sheet) {
  for (const auto key : {"bf16.enabled", "fp16.enabled"}) {
    if (!sheet.is_on(key)) continue;
    const bool wide = sheet.text("fp16.type") == "bfloat16";
    return sheet.say("dtype", wide || std::string_view(key).starts_with('b') ? "bf16" : "fp16", *sheet.find(key));
  }
  const std::string precision = sheet.text("precision");
  if (precision == "bfloat16" || precision == "fp16")
    return sheet.say("dtype", precision == "fp16" ? "fp16" : "bf16", *sheet.find("precision"));
  sheet.by_default("dtype", "fp32", "GPT-NeoX default");
}

void take_bias(Sheet& sheet) {
  const Setting* attention = sheet.find("use_bias_in_attn_linear");
  const bool as_llama = sheet.text("mlp_type") == "llama";
  const bool bare_mlp = as_llama || sheet.truth("use_bias_in_mlp") == false;
  const bool bare_attention = attention != nullptr && sheet.truth("use_bias_in_attn_linear") == false;
  if (bare_mlp && bare_attention) sheet.say("bias", "none", *attention);
  if (bare_mlp != bare_attention) {
    const Setting* because = bare_attention ? attention : sheet.find({"mlp_type", "use_bias_in_mlp"});
    sheet.assume(*because, "biases in every linear layer");
  }
}

/// Kinds of layers by their times, as [[["flash"], 24]].
void take_attention(Sheet& sheet) {
  const Setting* kinds = nullptr;
  bool flash = false;
  bool other = false;
  for (const Setting& setting : sheet.settings().all()) {
    if (!setting.key.starts_with("attention_config")) continue;
    const std::string text = quantity::to_lower(setting.text);
    kinds = &setting;
    flash = flash || text.find("flash") != std::string::npos;
    other = other || text.find("local") != std::string::npos || text.find("sparse") != std::string::npos ||
            text.find("mlp") != std::string::npos || text.find("mamba") != std::string::npos ||
            text.find("rwkv") != std::string::npos || text.find("big") != std::string::npos;
  }
  if (kinds == nullptr) return;
  if (other) return sheet.assume(*kinds, "every layer attends to all that is before");
  sheet.say("attention", flash ? "flash" : "eager", *kinds);
}

void take_recompute_of_layers(Sheet& sheet) {
  if (!sheet.is_on("checkpoint_activations")) return;
  const auto layers = sheet.count("checkpoint_num_layers").value_or(1);
  sheet.say("recompute", "uniform-" + std::to_string(layers), sheet.said("checkpoint_activations"));
}

void take_machines_of_file(Sheet& sheet) {
  const auto cards = sheet.count("num_gpus");
  const auto nodes = sheet.count("num_nodes").value_or(1);
  if (!cards || *cards < 1 || nodes < 1 || nodes > most_ranks || *cards > most_ranks) return;
  sheet.say("gpus", std::to_string(quantity::checked_multiply(*cards, nodes)), *sheet.find("num_gpus"));
  if (nodes > 1) sheet.say("nodes", std::to_string(nodes), *sheet.find("num_nodes"));
}

}  // namespace

void rename_gpt_neox(Settings& settings) {
  Settings all = settings;
  take_mlp_kind(all);
  take_tokenizer(all);
  if (const Setting* groups = all.find("num_query_groups")) all.say("group_query_attention", "true", *groups);
  if (number(all, "num_experts") > 1) {
    if (!all.has("moe_router_topk")) all.say("moe_router_topk", "1", *all.find("num_experts"));
  } else {
    all.remove("moe_router_topk");
    all.remove("num_experts");
  }
  if (number(all, "pipe_parallel_size") > 1)
    all.say("pipeline_model_parallel_size", all.find("pipe_parallel_size")->text, *all.find("pipe_parallel_size"));
  settings = std::move(all);
}

void gpt_neox_rules(Sheet& sheet) {
  take_megatron_model(sheet);
  if (sheet.has("experts")) {
    sheet.by_default("moe_every", std::to_string(sheet.count("expert_interval").value_or(2)), "GPT-NeoX default");
  } else {
    sheet.unsay("ep");
  }
  if (sheet.text("activation") == "geglu") sheet.say("mlp", "geglu", *sheet.find("activation"));
  if (sheet.text("activation") == "relu") sheet.say("mlp", "relu", *sheet.find("activation"));
  take_bias(sheet);
  take_types(sheet);
  take_attention(sheet);
  take_zero(sheet, "zero_optimization.stage", "zero_optimization.offload_optimizer.device",
            "zero_optimization.offload_param.device");
  take_recompute_of_layers(sheet);
  take_machines_of_file(sheet);
  sheet.by_default("dropout", "0.1", "GPT-NeoX default");
  sheet.by_default("attention", "eager", "GPT-NeoX default");
  if (!sheet.has("global_batch")) sheet.by_default("grad_accum", "1", "GPT-NeoX default");
  if (sheet.count("tensor_model_parallel_size").value_or(1) == 1) sheet.unsay("sp");
  take_length(sheet, {"train_iters", {}});
}

}  // namespace llmcalc::dialects
