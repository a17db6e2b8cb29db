// What a configuration file can say, under all the names it is said by.
//
// The order of the keys is the order in which vLLM's model_arch_config_convertor.py and llama.cpp's
// convert_hf_to_gguf.py try them. Upper bounds lie well above every published model (Llama 3.1: 126 layers,
// 16,384 wide; MT-NLG: 20,480 wide; Kimi K2: 384 experts) and keep any parameter count inside 63 bits.
#pragma once

#include "read/config/document.hpp"

#include <array>

namespace llmcalc::read {

/// One value of a shape: its name in the vocabulary of a run, the keys that may hold it, what they may hold.
struct Concept {
  std::string_view term;
  Keys keys;
  Range range;
};

namespace keys {

template <class... Names>
constexpr auto list(Names... names) {
  return std::array<std::string_view, sizeof...(Names)>{names...};
}

inline constexpr auto hidden = list("hidden_size", "n_embd", "d_model", "dim", "model_dim", "n_embed");
inline constexpr auto layers = list("num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_transformer_layers");
inline constexpr auto decoder_layers = list("num_decoder_layers", "decoder_layers");
inline constexpr auto heads = list("num_attention_heads", "n_head", "n_heads", "num_heads", "num_query_heads");
inline constexpr auto kv_heads =
    list("n_head_kv", "num_kv_heads", "num_key_value_heads", "n_kv_heads", "multi_query_group_num",
         "num_attention_groups", "num_query_groups", "attn_config/kv_n_heads");
inline constexpr auto head_dim = list("head_dim", "hidden_size_per_head", "attention_head_dim", "d_kv", "kv_channels");
inline constexpr auto ffn = list("intermediate_size", "ff_intermediate_size", "n_inner", "ffn_dim", "hidden_dim",
                                 "ffn_hidden_size", "d_ff", "d_inner", "ffn_config/ffn_hidden_size");
inline constexpr auto vocab = list("vocab_size", "padded_vocab_size");
inline constexpr auto max_position =
    list("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "max_target_positions",
         "max_sequence_length", "max_seq_length", "seq_len", "n_ctx");
inline constexpr auto model_max_length = list("model_max_length");
inline constexpr auto experts =
    list("num_experts", "moe_num_experts", "n_routed_experts", "num_local_experts", "ffn_config/moe_num_experts");
inline constexpr auto top_k = list("num_experts_per_tok", "num_experts_per_token", "top_k_experts", "moe_topk",
                                   "moe_top_k", "moe_k", "ffn_config/moe_top_k");
inline constexpr auto expert_ffn = list("moe_intermediate_size", "expert_intermediate_size", "moe_ffn_hidden_size");
inline constexpr auto shared_experts = list("n_shared_experts", "num_shared_experts");
inline constexpr auto shared_ffn = list("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size");
inline constexpr auto window = list("sliding_window", "attention_chunk_size");
inline constexpr auto full_every =
    list("sliding_window_pattern", "_sliding_window_pattern", "full_attention_interval", "no_rope_layer_interval");
inline constexpr auto layer_types = list("layer_types");
inline constexpr auto use_window = list("use_sliding_window");
inline constexpr auto max_window_layers = list("max_window_layers");
inline constexpr auto dense_layers = list("first_k_dense_replace");
inline constexpr auto moe_every_from_zero = list("moe_layer_freq");
inline constexpr auto moe_every = list("decoder_sparse_step", "interleave_moe_layer_step");
inline constexpr auto dense_list = list("mlp_only_layers");
inline constexpr auto topk_method = list("topk_method");
inline constexpr auto q_rank = list("q_lora_rank");
inline constexpr auto kv_rank = list("kv_lora_rank");
inline constexpr auto qk_nope_dim = list("qk_nope_head_dim");
inline constexpr auto qk_rope_dim = list("qk_rope_head_dim");
inline constexpr auto v_dim = list("v_head_dim");
inline constexpr auto key_heads = list("linear_num_key_heads");
inline constexpr auto value_heads = list("linear_num_value_heads");
inline constexpr auto key_dim = list("linear_key_head_dim");
inline constexpr auto value_dim = list("linear_value_head_dim");
inline constexpr auto conv_kernel = list("linear_conv_kernel_dim");
inline constexpr auto mtp_layers = list("num_nextn_predict_layers", "mtp_num_hidden_layers", "n_predict");
inline constexpr auto token_types = list("type_vocab_size");
inline constexpr auto relative_buckets = list("relative_attention_num_buckets");
inline constexpr auto embedding_width = list("word_embed_proj_dim");
inline constexpr auto activation = list("hidden_activation", "hidden_act", "activation_function", "activation",
                                        "feed_forward_proj", "ffn_config/ffn_act_fn/name");
inline constexpr auto tied = list("tie_word_embeddings");
inline constexpr auto model_type = list("model_type");
inline constexpr auto architectures = list("architectures");
inline constexpr auto name = list("_name_or_path");
inline constexpr auto yarn_kind = list("rope_scaling/rope_type", "rope_scaling/type");
inline constexpr auto yarn_factor = list("rope_scaling/factor");
inline constexpr auto yarn_original = list("rope_scaling/original_max_position_embeddings");
inline constexpr auto dropout =
    list("resid_pdrop", "hidden_dropout", "hidden_dropout_prob", "dropout", "dropout_rate", "residual_dropout");
inline constexpr auto quantization = list("quantization_config", "compression_config");
inline constexpr auto latent_bias = list("attention_bias");
inline constexpr auto uncounted_norms = list("qk_layernorm", "attn_config/qk_ln");
inline constexpr auto towers = list("vision_config", "audio_config", "vision_tower", "mm_vision_tower");

}  // namespace keys

namespace concepts {

inline constexpr std::int64_t most_layers = 2048;
inline constexpr std::int64_t most_width = std::int64_t{1} << 17;
inline constexpr std::int64_t most_ffn = std::int64_t{1} << 20;
inline constexpr std::int64_t most_heads = std::int64_t{1} << 14;
inline constexpr std::int64_t most_experts = std::int64_t{1} << 12;
inline constexpr std::int64_t most_words = std::int64_t{1} << 28;
inline constexpr std::int64_t most_positions = std::int64_t{1} << 32;

inline constexpr Concept hidden{"hidden", keys::hidden, {1, most_width}};
inline constexpr Concept layers{"layers", keys::layers, {1, most_layers}};
inline constexpr Concept decoder_layers{"decoder_layers", keys::decoder_layers, {1, most_layers}};
inline constexpr Concept heads{"heads", keys::heads, {1, most_heads}};
inline constexpr Concept kv_heads{"kv_heads", keys::kv_heads, {1, most_heads}};
inline constexpr Concept head_dim{"head_dim", keys::head_dim, {1, most_width}};
inline constexpr Concept ffn{"ffn", keys::ffn, {1, most_ffn}};
inline constexpr Concept vocab{"vocab", keys::vocab, {1, most_words}};
inline constexpr Concept max_position{"max_position", keys::max_position, {1, most_positions}};
inline constexpr Concept model_max_length{"max_position", keys::model_max_length, {1, most_positions}};
inline constexpr Concept experts{"experts", keys::experts, {1, most_experts}};
inline constexpr Concept top_k{"top_k", keys::top_k, {1, most_experts}};
inline constexpr Concept expert_ffn{"expert_ffn", keys::expert_ffn, {1, most_ffn}};
inline constexpr Concept shared_experts{"shared_ffn", keys::shared_experts, {0, most_experts}};
inline constexpr Concept shared_ffn{"shared_ffn", keys::shared_ffn, {0, most_ffn}};
inline constexpr Concept window{"window", keys::window, {0, most_positions}};
inline constexpr Concept full_every{"full_every", keys::full_every, {1, most_layers}};
inline constexpr Concept dense_layers{"dense_layers", keys::dense_layers, {0, most_layers}};
inline constexpr Concept q_rank{"q_rank", keys::q_rank, {1, most_width}};
inline constexpr Concept kv_rank{"kv_rank", keys::kv_rank, {1, most_width}};
inline constexpr Concept qk_nope_dim{"qk_nope_dim", keys::qk_nope_dim, {1, most_width}};
inline constexpr Concept qk_rope_dim{"qk_rope_dim", keys::qk_rope_dim, {1, most_width}};
inline constexpr Concept v_dim{"v_dim", keys::v_dim, {1, most_width}};
inline constexpr Concept key_heads{"key_heads", keys::key_heads, {1, most_heads}};
inline constexpr Concept value_heads{"value_heads", keys::value_heads, {1, most_heads}};
inline constexpr Concept key_dim{"key_dim", keys::key_dim, {1, most_width}};
inline constexpr Concept value_dim{"value_dim", keys::value_dim, {1, most_width}};
inline constexpr Concept conv_kernel{"conv_kernel", keys::conv_kernel, {1, 64}};
inline constexpr Concept token_types{"token_types", keys::token_types, {0, most_experts}};
inline constexpr Concept relative_buckets{"relative_buckets", keys::relative_buckets, {1, most_experts}};
inline constexpr Concept embedding_width{"embedding_width", keys::embedding_width, {1, most_width}};

}  // namespace concepts
}  // namespace llmcalc::read
