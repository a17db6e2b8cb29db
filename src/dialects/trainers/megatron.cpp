// Megatron-LM's arguments (megatron/training/arguments.py), of which most describe the model.
#include "dialects/core/format.hpp"
#include "dialects/trainers/megatron_rules.hpp"
#include "dialects/trainers/torch_words.hpp"

namespace llmcalc::dialects {
namespace {

constexpr Spelling norms[] = {{"LayerNorm", "layernorm"}, {"RMSNorm", "rmsnorm"}};
constexpr Spelling positions[] = {
    {"learned_absolute", "learned"}, {"rope", "rope"}, {"relative", "relative"}, {"none", "none"}};
constexpr Spelling backends[] = {
    {"flash", "flash"}, {"fused", "flash"}, {"auto", ""}, {"unfused", "eager"}, {"local", "eager"}};
constexpr Spelling exchanges[] = {
    {"p2p", "ring"}, {"a2a", "all-to-all"}, {"allgather", "ring"}, {"a2a+p2p", "all-to-all"}};
constexpr Spelling optimizers[] = {{"adam", "adamw"}, {"sgd", "sgd"}, {"muon", "muon"}, {"dist_muon", "muon"}};
constexpr Spelling impls[] = {{"transformer_engine", "transformer-engine"}, {"local", "local"}};

constexpr FormatRow rows[] = {
    {"num_layers", Use::term, "layers"},
    {"hidden_size", Use::term, "hidden"},
    {"num_attention_heads", Use::term, "heads"},
    {"ffn_hidden_size", Use::term, "ffn"},
    {"kv_channels", Use::term, "head_dim"},
    {"seq_length", Use::written, "seq"},
    {"max_position_embeddings", Use::term, "max_position"},
    {"normalization", Use::written, "norm", norms},
    {"position_embedding_type", Use::written, "position", positions},
    {"hidden_dropout", Use::written, "dropout"},
    {"num_experts", Use::term, "experts"},
    {"moe_router_topk", Use::term, "top_k"},
    {"moe_ffn_hidden_size", Use::term, "expert_ffn"},
    {"moe_shared_expert_intermediate_size", Use::term, "shared_ffn"},
    {"q_lora_rank", Use::rule},
    {"kv_lora_rank", Use::rule},
    {"qk_head_dim", Use::rule},
    {"qk_pos_emb_head_dim", Use::rule},
    {"v_head_dim", Use::rule},
    {"multi_latent_attention", Use::rule},
    {"window_size", Use::unmapped, "attention sees everything: say --window"},
    {"micro_batch_size", Use::written, "micro_batch"},
    {"global_batch_size", Use::written, "global_batch"},
    {"tensor_model_parallel_size", Use::written, "tp"},
    {"pipeline_model_parallel_size", Use::written, "pp"},
    {"context_parallel_size", Use::written, "cp"},
    {"expert_model_parallel_size", Use::written, "ep"},
    {"expert_tensor_parallel_size", Use::term, "etp"},
    {"sequence_parallel", Use::written, "sp"},
    {"decoder_first_pipeline_num_layers", Use::written, "first_stage_layers"},
    {"decoder_last_pipeline_num_layers", Use::written, "last_stage_layers"},
    {"num_virtual_stages_per_pipeline_rank", Use::written, "vpp"},
    {"cp_comm_type", Use::term, "cp_exchange", exchanges},
    {"attention_backend", Use::term, "attention", backends},
    {"transformer_impl", Use::term, "transformer_impl", impls},
    {"moe_grouped_gemm", Use::term, "grouped_experts"},
    {"optimizer", Use::term, "optimizer", optimizers},
    {"exp_avg_dtype", Use::term, "optimizer_states", gradient_words},
    {"main_grads_dtype", Use::term, "grads", gradient_words},
    {"train_samples", Use::term, "samples"},
    {"overlap_grad_reduce", Use::written, "data_overlap"},
    {"overlap_moe_expert_parallel_comm", Use::written, "expert_overlap"},
    {"moe_flex_dispatcher_backend", Use::rule},
    {"padded_vocab_size", Use::term, "vocab"},
    {"train_iters", Use::rule, "steps"},
    {"bf16", Use::rule},
    {"fp16", Use::rule},
    {"fp8_format", Use::rule},
    {"grad_reduce_in_bf16", Use::rule},
    {"group_query_attention", Use::rule},
    {"num_query_groups", Use::rule},
    {"num_layers_per_virtual_pipeline_stage", Use::rule},
    {"use_distributed_optimizer", Use::rule},
    {"use_torch_fsdp2", Use::rule},
    {"use_flash_attn", Use::rule},
    {"use_rotary_position_embeddings", Use::rule},
    {"advantage_estimator", Use::rule},
    {"rollout_*", Use::unmapped, "the engine that generates samples keeps nothing"},
    {"sglang_*", Use::unmapped, "the engine that generates samples keeps nothing"},
    {"recompute_*", Use::rule},
    {"swiglu", Use::rule},
    {"squared_relu", Use::rule},
    {"untie_embeddings_and_output_weights", Use::rule},
    {"disable_bias_linear", Use::rule},
    {"add_qkv_bias", Use::rule},
    {"qk_layernorm", Use::rule},
    {"moe_layer_freq", Use::rule},
    {"hybrid_*", Use::rule},
    {"encoder_num_layers", Use::rule},
    {"decoder_num_layers", Use::rule},
    {"cross_entropy_loss_fusion", Use::rule},
    {"cross_entropy_fusion_impl", Use::rule},
    {"vocab_size", Use::rule, "vocab"},
    {"make_vocab_size_divisible_by", Use::rule},
    {"optimizer_cpu_offload", Use::rule},
    {"use_precision_aware_optimizer"},
    {"mtp_num_layers", Use::unmapped, "multi-token-prediction layers are not counted"},
    {"use_megatron_fsdp", Use::rule},
    {"use_custom_fsdp", Use::rule},
    {"data_parallel_sharding_strategy", Use::rule},
    {"cpu_offloading*", Use::unmapped, "activations stay on the accelerator"},
    {"enable_cuda_graph", Use::rule},
    {"cuda_graph_*", Use::rule},
    {"fp4*", Use::unmapped, "products in the type of --dtype: say --compute nvfp4"},
    {"moe_expert_capacity_factor", Use::unmapped, "tokens are spread evenly over the experts"},
};

/// What moves neither bytes nor seconds, by the beginnings of its names.
constexpr FormatRow quiet_rows[] = {
    {"lr* min_lr clip_grad weight_decay* adam_* init_method_std log_* save* load* eval_* data_path split"
     " tokenizer_* vocab_file merge_file seed tensorboard* wandb* distributed_* no_* attention_dropout rotary_*"
     " use_rotary_* norm_epsilon use_mcore_models use_legacy_models attention_softmax_in_fp32 exit_* ckpt_*"
     " overlap_param_gather overlap_p2p* tp_comm_* manual_gc* moe_router_* moe_aux_* moe_token_* moe_permute_*"
     " moe_z_loss* moe_enable_* moe_per_layer_logging mock_data num_workers num_dataset_* data_cache_path"
     " apply_layernorm_1p accumulate_* initial_loss* loss_scale* hysteresis timing_* async_save use_checkpoint_*"
     " use_dist_ckpt fp8_* beta_* mscale* rope_* original_max_* end_weight_decay start_weight_decay high_* bias_*"
     " masked_softmax_fusion gradient_accumulation_fusion check_* profile* empty_unused* reset_* eod_*"
     " enable_experimental te_rng_tracker create_* dataloader_type disable_* train_data_path valid_data_path"
     " test_data_path local_rank fim_* auto_detect_ckpt_format qk_clip* ddp_* per_split_* dist_ckpt_* finetune"
     " context_parallel_* mtp_loss* decoupled_* calculate_per_token_loss tiktoken_* use_persistent_* rerun_mode"
     " encoder_seq_length decoder_seq_length"},
};

const std::span<const FormatRow> tables[] = {rows, megatron_relative_rows(), quiet_rows, megatron_yaml_rows()};

bool recognizes(const Settings& settings) {
  if (settings.has("language_model.num_layers")) return true;
  const bool model = settings.has("num_layers") && settings.has("hidden_size");
  return model && (settings.has("num_attention_heads") || settings.has("tensor_model_parallel_size"));
}

/// slime trains by rewards on Megatron-LM's arguments, and says its algorithm in others (slime/utils/arguments.py).
void refuse_to_guess_algorithm(Sheet& sheet) {
  const Setting* estimator = sheet.find("advantage_estimator");
  if (estimator == nullptr) return;
  sheet.leave_open("algorithm", "advantage_estimator " + estimator->text + " trains on samples that it generates",
                   *estimator);
}

void rules(Sheet& sheet) {
  refuse_to_guess_algorithm(sheet);
  take_megatron_model(sheet);
  take_megatron_run(sheet);
  take_megatron_relatives(sheet);
}

void rename(Settings& settings) {
  rename_megatron_yaml(settings);
  rename_megatron_relatives(settings);
}

/// Megatron-LM, megatron/training/arguments.py.
std::string write(Letter& letter) {
  write_megatron_model(letter);
  write_rows({rows}, letter);
  write_megatron_run(letter);
  return letter.settings.options(torchrun(letter.question.layout, "pretrain_gpt.py"), Style::dashed);
}

}  // namespace

std::span<const FormatRow> megatron_rows() { return rows; }
std::span<const FormatRow> megatron_quiet_rows() { return quiet_rows; }

const Format& megatron_format() {
  static const Format format{"Megatron-LM arguments", "megatron", tables, recognizes, rules, false, rename, write};
  return format;
}

}  // namespace llmcalc::dialects
