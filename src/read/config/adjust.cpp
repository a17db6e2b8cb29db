#include "read/config/adjust.hpp"

#include "read/config/layers.hpp"
#include "read/config/reader.hpp"

#include <vector>

namespace llmcalc::read {

// transformers models/falcon: multi-query unless the decoder is new; one norm where attention and MLP share it.
void adjust_falcon(ConfigReader& reader, spec::Shape& shape) {
  static constexpr auto norm_keys = keys::list("num_ln_in_parallel_attn");
  static constexpr Concept norms{"norms_per_layer", norm_keys, {1, 2}};
  const bool new_decoder = reader.flag({"new_decoder_architecture", false});
  if (!new_decoder) shape.kv_heads = reader.flag({"multi_query", true}) ? 1 : shape.heads;
  if (reader.flag({"alibi", false})) shape.position = spec::Position::alibi;
  const std::int64_t shared = new_decoder ? 2 : 1;
  shape.norms_per_layer = shape.parallel_residual ? static_cast<int>(reader.value_or(norms, shared)) : 2;
}

// transformers models/gpt_bigcode: multi_query means one key and value head.
void adjust_gpt_bigcode(ConfigReader& reader, spec::Shape& shape) {
  shape.kv_heads = reader.flag({"multi_query", true}) ? 1 : shape.heads;
}

// transformers models/mpt: no_bias takes the bias from every linear layer and every norm; ALiBi replaces the table.
void adjust_mpt(ConfigReader& reader, spec::Shape& shape) {
  static constexpr auto ratio_keys = keys::list("expansion_ratio");
  static constexpr Concept ratio{"ffn", ratio_keys, {1, 64}};
  if (const auto expansion = reader.find(ratio)) shape.ffn = *expansion * shape.hidden;
  const bool bias = !reader.flag({"no_bias", true});
  shape.qkv_bias = shape.out_bias = shape.mlp_bias = bias;
  shape.norm = bias ? spec::Norm::layernorm : spec::Norm::layernorm_no_bias;
  if (!reader.flag({"attn_config/alibi", true})) shape.position = spec::Position::learned;
}

// transformers models/opt: only OPT-350M norms after its blocks and keeps a narrower token table.
void adjust_opt(ConfigReader& reader, spec::Shape& shape) {
  const std::int64_t width = reader.value_or(concepts::embedding_width, shape.hidden);
  shape.embedding_width = width == shape.hidden ? 0 : width;
  shape.final_norm = reader.flag({"do_layer_norm_before", true}) && !reader.flag({"_remove_final_layer_norm", false});
}

// THUDM/chatglm3-6b configuration_chatglm.py: multi_query_group_num counts only with multi_query_attention.
void adjust_chatglm(ConfigReader& reader, spec::Shape& shape) {
  if (!reader.flag({"multi_query_attention", false})) shape.kv_heads = shape.heads;
  shape.qkv_bias = shape.qkv_bias || reader.flag({"add_bias_linear", false});
}

// transformers models/stablelm: attention and MLP side by side share a norm.
void adjust_stablelm(ConfigReader& /*reader*/, spec::Shape& shape) {
  if (shape.parallel_residual) shape.norms_per_layer = 1;
}

void adjust_encoder(ConfigReader& reader, spec::Shape& shape) {
  constexpr std::int64_t bert_default = 2;
  shape.token_types = reader.value_or(concepts::token_types, bert_default);
}

// transformers models/t5: as many decoder as encoder layers unless told; the bias table is never left out.
void adjust_t5(ConfigReader& reader, spec::Shape& shape) {
  constexpr std::int64_t t5_default = 32;
  shape.decoder_layers = reader.value_or(concepts::decoder_layers, shape.layers);
  shape.relative_buckets = reader.value_or(concepts::relative_buckets, t5_default);
}

// transformers models/llama4: intermediate_size is an expert's width, one expert is shared, and layers without rotary
// positions are those that see everything.
void adjust_llama4(ConfigReader& reader, spec::Shape& shape) {
  static constexpr auto mlp_keys = keys::list("intermediate_size_mlp");
  static constexpr auto rope_keys = keys::list("no_rope_layers");
  static constexpr Concept mlp{"ffn", mlp_keys, {1, concepts::most_ffn}};
  constexpr std::int64_t default_mlp = 16384;
  shape.moe.expert_ffn = shape.ffn;
  shape.moe.shared_ffn = shape.ffn;
  shape.ffn = reader.value_or(mlp, default_mlp);
  shape.window.chunked = shape.window.window > 0;
  const auto rope = reader.text_model().integers(rope_keys, {0, 1});
  if (!rope || rope->value.empty() || shape.window.window == 0) return;
  std::vector<bool> sees_all;
  for (const std::int64_t rotary : rope->value) sees_all.push_back(rotary == 0);
  reader.came_from("full_every", rope->pointer);
  set_window_layers(reader, shape, sees_all);
}

}  // namespace llmcalc::read
