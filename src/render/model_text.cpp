// `llmcalc model` for people.
//
//   llama-3-8b
//     parameters  8,030,261,248 (8.03B)
//     published   8,030,261,248, exact
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "render/foreign.hpp"
#include "render/inner/card.hpp"
#include "render/inner/model_layers.hpp"
#include "render/presets.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

namespace llmcalc::render {
namespace {

using quantity::format_count;
using quantity::in_parameters;

std::string count_text(quantity::Parameters count) {
  return fmt::format("{} ({})", format_count(in_parameters(count)), quantity::format_parameters(count));
}

std::string published_text(const ModelCard& card) {
  auto text = card.published_parameters ? format_count(*card.published_parameters) : card.published_text;
  if (!card.published_check.empty()) text.append(text.empty() ? "" : ", ").append(card.published_check);
  return text;
}

void add_size(Card& card, const ModelCard& model) {
  card.add("parameters", count_text(model.size.total));
  card.add("active", model.size.active == model.size.total ? std::string() : count_text(model.size.active));
  card.add("in tables", count_text(model.size.embedding));
  card.add("published", published_text(model));
  card.add("source", model.published_source);
}

std::string biases(const spec::Shape& shape) {
  std::vector<std::string> names;
  if (shape.qkv_bias) names.emplace_back("qkv");
  if (shape.out_bias) names.emplace_back("attention output");
  if (shape.mlp_bias) names.emplace_back("MLP");
  if (shape.head_bias) names.emplace_back("head");
  return names.empty() ? "none" : quantity::joined(names, ", ");
}

std::string experts_text(const spec::MoeShape& moe) {
  if (moe.experts == 0) return {};
  auto text = fmt::format("{} of width {}, {} for a token", moe.experts, moe.expert_ffn, moe.top_k);
  if (moe.shared_ffn > 0) text += fmt::format("; shared width {}", moe.shared_ffn);
  if (moe.dense_layers > 0) text += fmt::format("; first {} layers dense", moe.dense_layers);
  if (moe.every > 1) text += fmt::format("; every {}. layer", moe.every);
  return text;
}

std::string latent_text(const spec::LatentShape& latent) {
  if (latent.kv_rank == 0) return {};
  const std::string index = latent.index_heads == 0
                                ? std::string()
                                : fmt::format("; {} heads of {} choose {} positions", latent.index_heads,
                                              latent.index_dim, latent.index_top_k);
  return fmt::format("query rank {}, key and value rank {}, head {} + {} rope, value head {}{}", latent.q_rank,
                     latent.kv_rank, latent.qk_nope_dim, latent.qk_rope_dim, latent.v_dim, index);
}

std::string linear_text(const spec::LinearAttentionShape& linear) {
  if (linear.full_every == 0) return {};
  return fmt::format("{} key heads of {}, {} value heads of {}; every {}. layer is softmax attention", linear.key_heads,
                     linear.key_dim, linear.value_heads, linear.value_dim, linear.full_every);
}

void add_dimensions(Card& card, const spec::Shape& shape) {
  card.add("layers", unless_zero(shape.layers));
  card.add("decoder layers", unless_zero(shape.decoder_layers));
  card.add("hidden", unless_zero(shape.hidden));
  card.add("heads", fmt::format("{} of {}, {} for keys and values", shape.heads, shape.head_dim, shape.kv_heads));
  card.add("ffn", unless_zero(shape.ffn));
  card.add("vocab", format_count(shape.vocab));
  card.add("max position", format_count(shape.max_position));
}

void add_structure(Card& card, const spec::Shape& shape) {
  card.add("stack", std::string(spec::name_of(shape.stack)));
  card.add("mlp", std::string(spec::name_of(shape.mlp)));
  card.add("norm", fmt::format("{}, {} a layer", spec::name_of(shape.norm), shape.norms_per_layer));
  card.add("position", std::string(spec::name_of(shape.position)));
  card.add("bias", biases(shape));
  card.add("tied", shape.tied ? "yes" : "no");
  card.add("mixers", mixers_text(shape));
  card.add("window", windows_text(shape));
  card.add("borrowed", borrowed_text(shape));
  card.add("latent", latent_text(shape.latent));
  card.add("linear", linear_text(shape.linear));
  card.add("experts", experts_text(shape.moe));
  card.add("towers", towers_text(shape));
}

}  // namespace

std::string to_text(const ModelCard& model) {
  Card card(model.id);
  add_size(card, model);
  card.add_heading("shape");
  add_dimensions(card, model.shape);
  add_structure(card, model.shape);
  card.add_heading("preset");
  card.add("names", quantity::joined(model.aliases, ", "));
  card.add("hugging face", model.hf_id);
  card.add("family", model.family);
  card.add("license", model.license);
  if (model.training_tokens) {
    card.add("trained on", quantity::format_tokens(quantity::tokens(*model.training_tokens)) + " tokens");
    card.add("", model.training_source);
  }
  card.add("notes", model.notes);
  card.add("file", model.file);
  return on_screen(card.render());
}

std::string to_text(std::span<const ModelCard> models) {
  Table table({Align::left, Align::right, Align::right, Align::right, Align::left}, "");
  table.add_row({"model", "parameters", "active", "context", "family"});
  for (const auto& model : models) {
    const bool sparse = model.size.active != model.size.total;
    table.add_row({model.id, quantity::format_parameters(model.size.total),
                   sparse ? quantity::format_parameters(model.size.active) : "", unless_zero(model.shape.max_position),
                   model.family});
  }
  return on_screen(table.render());
}

}  // namespace llmcalc::render
