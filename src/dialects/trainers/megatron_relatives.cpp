// What is built on Megatron-LM and has arguments of its own: Megatron-DeepSpeed (megatron/arguments.py), MindSpeed-LLM
// (mindspeed_llm/training/arguments.py), Pai-Megatron-Patch (megatron_patch/arguments.py), and Megatron-LM of 2021.
#include "dialects/trainers/megatron_rules.hpp"
#include "dialects/trainers/torch_rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <string>

namespace llmcalc::dialects {
namespace {

/// Their names for what Megatron-LM has as well.
constexpr Spelling renamed[] = {{"multi_head_latent_attention", "multi_latent_attention"},
                                {"qk_nope_head_dim", "qk_head_dim"},
                                {"qk_rope_head_dim", "qk_pos_emb_head_dim"},
                                {"moe_intermediate_size", "moe_ffn_hidden_size"},
                                {"num_shared_experts", "n_shared_experts"},
                                {"activations_checkpoint_num_layers", "checkpoint_num_layers"}};

constexpr FormatRow rows[] = {
    {"n_shared_experts", Use::rule},
    {"first_k_dense_replace", Use::rule},
    {"checkpoint_activations", Use::rule},
    {"checkpoint_num_layers", Use::rule},
    {"deepspeed_activation_checkpointing", Use::rule},
    {"activations_checkpoint_method", Use::rule},
    {"distribute_checkpointed_activations", Use::unmapped, "what is kept for recomputing stays whole on every rank"},
    {"deepspeed", Use::rule},
    {"zero_stage", Use::rule},
    {"deepspeed_config", Use::rule},
    {"cpu_optimizer", Use::unmapped, "the optimizer stays on the accelerator: say --offload optimizer"},
    {"train_tokens", Use::rule},
    {"extra_vocab_size", Use::unmapped, "rows of the vocabulary beside the tokenizer's: say --vocab"},
    {"reuse_fp32_param", Use::unmapped, "copies of the weights in fp32 beside them"},
    {"swap_attention", Use::unmapped, "activations stay on the accelerator"},
    {"optimizer_offload_*", Use::unmapped, "all of the optimizer is in one place"},
    {"enable_shared_expert"},
    {"moe_alltoall_*"},
    {"moe_permutation_*"},
    {"use_fused_*"},
    {"topk_group"},
    {"n_group"},
    {"norm_topk_prob"},
    {"routed_scaling_factor"},
    {"seq_aux"},
    {"shape_order"},
    {"patch_tokenizer_type"},
    {"max_padding_length"},
    {"train_mode"},
    {"dataset"},
    {"data_impl"},
    {"override_lr_scheduler"},
    {"zero_contigious_gradients"},
    {"zero_reduce_*"},
    {"zero_allgather_*"},
};

/// Layers that are computed again: --checkpoint-activations since 2019, --activations-checkpoint-method in 2021.
void take_checkpointing(Sheet& sheet) {
  const Setting* method = sheet.find("activations_checkpoint_method");
  const bool on = sheet.is_on("checkpoint_activations") || sheet.is_on("deepspeed_activation_checkpointing");
  if (method == nullptr && !on) return;
  const Setting& because = method != nullptr                       ? *method
                           : sheet.is_on("checkpoint_activations") ? sheet.said("checkpoint_activations")
                                                                   : sheet.said("deepspeed_activation_checkpointing");
  const auto layers = sheet.count("checkpoint_num_layers").value_or(1);
  const std::string name = method == nullptr ? "uniform" : quantity::to_lower(method->text);
  sheet.say("recompute", name + "-" + std::to_string(layers), because);
}

/// DeepSpeed's engine under Megatron's layers, as far as it shards.
void take_engine(Sheet& sheet) {
  if (!sheet.is_on("deepspeed")) return;
  const Setting* stage = sheet.find("zero_stage");
  const bool shards = stage != nullptr && stage->text != "0";
  if (shards) {
    sheet.say("framework", "deepspeed", *stage);
    sheet.assume(*stage, "layers as transformers writes them, states as DeepSpeed keeps them");
    take_zero(sheet, "zero_stage", {}, {});
  }
  const Setting* file = sheet.find("deepspeed_config");
  if (file != nullptr && shards) sheet.include(*file);
}

void take_shared_experts(Sheet& sheet) {
  const auto shared = sheet.count("n_shared_experts");
  const auto width = sheet.count("moe_ffn_hidden_size");
  if (!shared || !width || *shared < 1) return;
  sheet.say("shared_ffn", std::to_string(quantity::checked_multiply(*shared, *width)), *sheet.find("n_shared_experts"));
}

}  // namespace

void rename_megatron_relatives(Settings& settings) {
  for (const auto& [theirs, ours] : renamed) {
    const Setting* setting = settings.find(theirs);
    if (setting == nullptr || settings.has(ours)) continue;
    Setting copy = *setting;
    copy.key = ours;
    settings.remove(theirs);
    settings.put(std::move(copy));
  }
}

void take_megatron_relatives(Sheet& sheet) {
  take_checkpointing(sheet);
  take_engine(sheet);
  take_shared_experts(sheet);
  const Setting* dense = sheet.find("first_k_dense_replace");
  if (dense != nullptr && sheet.has("experts")) sheet.say("dense_layers", dense->text, *dense);
  if (const Setting* tokens = sheet.find("train_tokens")) {
    sheet.unsay("samples");
    sheet.say("tokens", tokens->text, *tokens);
  }
}

std::span<const FormatRow> megatron_relative_rows() { return rows; }

}  // namespace llmcalc::dialects
