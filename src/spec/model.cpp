#include "llmcalc/spec/model.hpp"

#include "llmcalc/quantity/error.hpp"
#include "spec/check_shape.hpp"

#include <utility>

namespace llmcalc::spec {

namespace {

bool sees_everything(const WindowPattern& pattern, std::int64_t layer) {
  return pattern.window == 0 || (pattern.full_every > 0 && (layer + 1) % pattern.full_every == 0);
}

GroupedAttention grouped_attention(const Shape& s, std::int64_t layer) {
  GroupedAttention a;
  a.heads = s.heads;
  a.kv_heads = s.kv_heads;
  a.head_dim = s.head_dim;
  a.window = sees_everything(s.window, layer) ? 0 : s.window.window;
  a.qk_norm = s.qk_norm;
  a.qkv_bias = s.qkv_bias;
  a.out_bias = s.out_bias;
  a.output_gate = s.output_gate;
  a.sinks = s.attention_sinks;
  a.xl_projection = s.xl_projection;
  a.causal = s.stack != Stack::encoder;
  return a;
}

Mixer mixer(const Shape& s, std::int64_t layer) {
  if (s.linear.full_every > 0 && (layer + 1) % s.linear.full_every != 0) return GatedDeltaNet{s.linear};
  if (s.latent.kv_rank > 0) return LatentAttention{s.heads, s.latent};
  return grouped_attention(s, layer);
}

FeedForward feed_forward(const Shape& s, std::int64_t layer) {
  const std::int64_t after_dense = layer - s.moe.dense_layers;
  const bool routed = s.moe.experts > 0 && after_dense >= 0 && (after_dense + 1) % s.moe.every == 0;
  if (routed) return MoeMlp{s.moe};
  return DenseMlp{s.ffn, s.mlp_bias};
}

/// Appends a layer, sharing the kind of an equal one.
void append(Model& model, const LayerKind& kind) {
  for (std::size_t i = 0; i < model.kinds.size(); ++i) {
    if (model.kinds[i] == kind) {
      model.layers.push_back(static_cast<std::uint8_t>(i));
      return;
    }
  }
  model.kinds.push_back(kind);
  model.layers.push_back(static_cast<std::uint8_t>(model.kinds.size() - 1));
}

/// T5: the relative position bias is a table held by the first layer of each stack (modeling_t5.py,
/// has_relative_attention_bias = (i == 0)).
LayerKind layer_kind(const Shape& s, std::int64_t layer, bool first_of_stack) {
  LayerKind kind{mixer(s, layer), false, feed_forward(s, layer)};
  auto* grouped = std::get_if<GroupedAttention>(&kind.mixer);
  if (grouped != nullptr && first_of_stack) grouped->relative_buckets = s.relative_buckets;
  return kind;
}

}  // namespace

Model build_model(Shape shape) {
  check_shape(shape);
  if (shape.position == Position::learned && shape.position_rows == 0) shape.position_rows = shape.max_position;
  Model model;
  const Shape& s = model.shape = std::move(shape);
  for (std::int64_t i = 0; i < s.layers; ++i) {
    LayerKind kind = layer_kind(s, i, i == 0);
    auto* grouped = std::get_if<GroupedAttention>(&kind.mixer);
    if (grouped != nullptr && s.stack == Stack::encoder_decoder) grouped->causal = false;
    append(model, kind);
  }
  if (s.stack != Stack::encoder_decoder) return model;
  model.encoder_layers = s.layers;
  for (std::int64_t i = 0; i < s.decoder_layers; ++i) {
    LayerKind kind = layer_kind(s, i, i == 0);
    kind.cross_attention = true;
    append(model, kind);
  }
  return model;
}

}  // namespace llmcalc::spec
