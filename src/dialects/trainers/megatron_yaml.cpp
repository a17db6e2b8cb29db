// Megatron-LM's arguments as YAML (--yaml-cfg; megatron/training/yaml_arguments.py): what its core's configurations
// hold stands in two blocks under the names of core, the rest under those of the options.
#include "dialects/trainers/megatron_rules.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <array>
#include <string>
#include <utility>

namespace llmcalc::dialects {
namespace {

constexpr std::array<std::string_view, 2> blocks{"language_model.", "model_parallel."};

/// core/transformer/transformer_config.py and core/model_parallel_config.py, where options have other names.
constexpr Spelling names[] = {{"num_moe_experts", "num_experts"},
                              {"fp8", "fp8_format"},
                              {"virtual_pipeline_model_parallel_size", "num_virtual_stages_per_pipeline_rank"}};

void rename_key(std::string& key) {
  for (const auto block : blocks) key.erase(0, key.starts_with(block) ? block.size() : 0);
  if (const auto* renamed = quantity::find_or_null(names, key, &Spelling::theirs)) key = renamed->ours;
}

void put(Settings& settings, std::string_view key, const Setting& because) {
  settings.put({std::string(key), "true", {}, because.where, {}});
}

/// activation_func says what switches of the command line say; core's bias is on unless it is switched off.
void take_activation(Settings& settings) {
  if (const Setting* found = settings.find("activation_func")) {
    const Setting function = *found;
    const std::string name = quantity::to_lower(function.text);
    if (name == "swiglu") put(settings, "swiglu", function);
    if (name == "squared_relu" || name == "squaredrelu") put(settings, "squared_relu", function);
  }
  const Setting* bias = settings.find("add_bias_linear");
  if (bias != nullptr && quantity::to_lower(bias->text) == "false")
    put(settings, "disable_bias_linear", Setting(*bias));
}

/// Keys that only the YAML has.
constexpr FormatRow yaml_rows[] = {
    {"yaml_cfg"},
    {"activation_func", Use::rule},
    {"add_bias_linear", Use::rule},
    {"gated_linear_unit"},
    {"fp32_residual_connection", Use::unmapped, "residuals in the type of the products"},
    {"rampup_batch_size", Use::unmapped, "the batch is --global-batch from the first step"},
    {"distribute_saved_activations", Use::unmapped, "checkpoints are whole on every rank"},
    {"standalone_embedding_stage", Use::unmapped, "the embedding is on the first stage of layers"},
    {"encoder_*"},
    {"decoder_*"},
    {"apply_*"},
    {"layernorm_*"},
    {"persist_layer_norm"},
    {"memory_efficient_layer_norm"},
    {"init_method"},
    {"output_layer_init_method"},
    {"clone_scatter_output_in_embedding"},
    {"perform_initialization"},
    {"use_cpu_initialization"},
    {"params_dtype"},
    {"timers"},
    {"async_*"},
    {"batch_p2p_*"},
    {"use_ring_exchange_p2p"},
    {"deallocate_pipeline_outputs"},
    {"variable_seq_lengths"},
    {"enable_autocast"},
    {"_cpu_offloading_context"},
    {"barrier_with_L1_time"},
    {"spec"},
    {"add_position_embedding"},
    {"openai_gelu"},
    {"bert_*"},
    {"data_parallel_random_init"},
    {"sgd_momentum"},
    {"override_opt_param_scheduler"},
    {"min_loss_scale"},
    {"fp16_lm_cross_entropy"},
    {"delay_*"},
    {"scatter_gather_tensors_in_pipeline"},
    {"skip_train"},
    {"adlr_*"},
    {"vocab_extra_ids"},
    {"retriever_*"},
    {"sample_rate"},
    {"mask_prob"},
    {"short_seq_prob"},
    {"enable_one_logger"},
    {"one_logger_*"},
    {"moe_input_jitter_eps"},
};

}  // namespace

void rename_megatron_yaml(Settings& settings) {
  if (!settings.has("language_model.num_layers")) return;
  Settings renamed;
  for (Setting setting : settings.all()) {
    rename_key(setting.key);
    renamed.put(std::move(setting));
  }
  take_activation(renamed);
  if (const Setting* groups = renamed.find("num_query_groups")) put(renamed, "group_query_attention", Setting(*groups));
  if (!renamed.has("num_experts")) renamed.remove("moe_router_topk");  // which stands there for dense models too
  settings = std::move(renamed);
}

std::span<const FormatRow> megatron_yaml_rows() { return yaml_rows; }

}  // namespace llmcalc::dialects
