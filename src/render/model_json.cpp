// `llmcalc model` for programs; docs/json.md says what each key means.
#include "render/inner/json_list.hpp"
#include "render/presets.hpp"
#include "spec/names.hpp"

namespace llmcalc::render {
namespace {

Json published(const ModelCard& card) {
  return {{"parameters", card.published_parameters ? Json(*card.published_parameters) : Json()},
          {"text", text_or_null(card.published_text)},
          {"check", text_or_null(card.published_check)},
          {"source", text_or_null(card.published_source)}};
}

Json window(const spec::WindowPattern& window) {
  if (window.window == 0) return {};
  return {{"window", window.window}, {"full_every", window.full_every}};
}

Json latent(const spec::LatentShape& latent) {
  if (latent.kv_rank == 0) return {};
  Json object = {{"q_rank", latent.q_rank},
                 {"kv_rank", latent.kv_rank},
                 {"qk_nope_dim", latent.qk_nope_dim},
                 {"qk_rope_dim", latent.qk_rope_dim},
                 {"v_dim", latent.v_dim}};
  if (latent.index_heads == 0) return object;
  object["index_heads"] = latent.index_heads;
  object["index_dim"] = latent.index_dim;
  object["index_top_k"] = latent.index_top_k;
  return object;
}

Json linear(const spec::LinearAttentionShape& linear) {
  if (linear.full_every == 0) return {};
  return {{"full_every", linear.full_every}, {"key_heads", linear.key_heads}, {"value_heads", linear.value_heads},
          {"key_dim", linear.key_dim},       {"value_dim", linear.value_dim}, {"conv_kernel", linear.conv_kernel}};
}

Json moe(const spec::MoeShape& moe) {
  if (moe.experts == 0) return {};
  return {{"experts", moe.experts},           {"top_k", moe.top_k},
          {"expert_ffn", moe.expert_ffn},     {"shared_ffn", moe.shared_ffn},
          {"dense_layers", moe.dense_layers}, {"every", moe.every}};
}

void add_dimensions(Json& object, const spec::Shape& shape) {
  object["stack"] = spec::name_of(shape.stack);
  object["layers"] = shape.layers;
  object["decoder_layers"] = shape.decoder_layers;
  object["hidden"] = shape.hidden;
  object["heads"] = shape.heads;
  object["kv_heads"] = shape.kv_heads;
  object["head_dim"] = shape.head_dim;
  object["ffn"] = shape.ffn;
  object["vocab"] = shape.vocab;
  object["max_position"] = shape.max_position;
}

Json shape_object(const spec::Shape& shape) {
  Json object;
  add_dimensions(object, shape);
  object["mlp"] = spec::name_of(shape.mlp);
  object["norm"] = spec::name_of(shape.norm);
  object["position"] = spec::name_of(shape.position);
  object["norms_per_layer"] = shape.norms_per_layer;
  object["qkv_bias"] = shape.qkv_bias;
  object["out_bias"] = shape.out_bias;
  object["mlp_bias"] = shape.mlp_bias;
  object["head_bias"] = shape.head_bias;
  object["tied"] = shape.tied;
  object["parallel_residual"] = shape.parallel_residual;
  object["qk_norm"] = spec::name_of(shape.qk_norm);
  object["output_gate"] = shape.output_gate;
  object["attention_sinks"] = shape.attention_sinks;
  object["window"] = window(shape.window);
  object["latent"] = latent(shape.latent);
  object["linear"] = linear(shape.linear);
  object["moe"] = moe(shape.moe);
  return object;
}

Json model_entry(const ModelCard& card) {
  return {{"id", card.id},
          {"aliases", card.aliases},
          {"hf_id", text_or_null(card.hf_id)},
          {"family", text_or_null(card.family)},
          {"license", text_or_null(card.license)},
          {"parameters_total", quantity::in_parameters(card.size.total)},
          {"parameters_active", quantity::in_parameters(card.size.active)},
          {"parameters_embedding", quantity::in_parameters(card.size.embedding)},
          {"published", published(card)},
          {"training_tokens", finite_or_null(card.training_tokens)},
          {"training_source", text_or_null(card.training_source)},
          {"shape", shape_object(card.shape)},
          {"notes", text_or_null(card.notes)},
          {"file", text_or_null(card.file)}};
}

}  // namespace

std::string to_json(const ModelCard& card, std::string_view version) {
  Json object = json_answer("model", version);
  object["model"] = model_entry(card);
  return dump(object);
}

std::string to_json(std::span<const ModelCard> cards, std::string_view version) {
  Json object = json_answer("model_list", version);
  object["models"] = json_list(cards, model_entry);
  return dump(object);
}

}  // namespace llmcalc::render
