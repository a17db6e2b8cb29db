#include "llmcalc/spec/model.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "spec/inner/check_shape.hpp"

#include <utility>

namespace llmcalc::spec {

namespace {

bool sees_everything(const WindowPattern& pattern, std::int64_t layer) {
  return pattern.window == 0 || (pattern.full_every > 0 && (layer + 1) % pattern.full_every == 0);
}

GroupedAttention grouped_attention(const Shape& s, const LayerPlan& plan) {
  GroupedAttention a;
  a.heads = plan.heads > 0 ? plan.heads : s.heads;
  a.kv_heads = plan.kv_heads > 0 ? plan.kv_heads : s.kv_heads;
  a.head_dim = plan.head_dim > 0 ? plan.head_dim : s.head_dim;
  a.value_dim = plan.value_dim > 0 ? plan.value_dim : a.head_dim;
  a.keys_are_values = plan.keys_are_values;
  a.borrows_keys = plan.borrows_keys;
  a.reads_tower = plan.attends_to_tower;
  a.low_rank = plan.low_rank;
  a.input_width = plan.input_width;
  a.query_rank = plan.query_rank;
  a.output_rank = plan.output_rank;
  a.output_groups = plan.output_groups;
  a.window = plan.windowed ? s.window.window : 0;
  a.qk_norm = plan.attends_to_tower ? QkNorm::per_head : s.qk_norm;  // Llama 3.2 Vision
  a.qkv_bias = s.qkv_bias;
  a.out_bias = s.out_bias;
  a.output_gate = s.output_gate;
  a.sinks = s.attention_sinks;
  a.xl_projection = s.xl_projection;
  a.causal = s.stack != Stack::encoder && !plan.attends_to_tower;
  return a;
}

/// The plan of a layer: the shape's own, or what its periods say.
LayerPlan plan_of(const Shape& s, std::int64_t layer, std::int64_t within_stack) {
  if (!s.plan.empty()) return s.plan[static_cast<std::size_t>(layer) % s.plan.size()];
  LayerPlan plan;
  const bool linear = s.linear.full_every > 0 && (within_stack + 1) % s.linear.full_every != 0;
  const std::int64_t after_dense = within_stack - s.moe.dense_layers;
  if (linear) plan.mixer = MixerWord::linear;
  plan.windowed = !sees_everything(s.window, within_stack);
  plan.experts = s.moe.experts > 0 && after_dense >= 0 && (after_dense + 1) % s.moe.every == 0;
  return plan;
}

Mixer mixer(const Shape& s, const LayerPlan& plan) {
  switch (plan.mixer) {
    case MixerWord::linear: return GatedDeltaNet{s.linear};
    case MixerWord::state_space: return StateSpace{s.state, std::nullopt};
    case MixerWord::attention_and_state: return StateSpace{s.state, grouped_attention(s, plan)};
    case MixerWord::none: return NoMixer{};
    case MixerWord::attention: break;
  }
  if (s.latent.kv_rank > 0) return LatentAttention{plan.heads > 0 ? plan.heads : s.heads, s.latent, plan.borrows_index};
  return grouped_attention(s, plan);
}

FeedForward feed_forward(const Shape& s, const LayerPlan& plan) {
  if (!plan.mlp) return NoMlp{};
  if (plan.experts) {
    MoeMlp mixture{s.moe};
    if (plan.expert_ffn > 0) mixture.moe.expert_ffn = plan.expert_ffn;
    return mixture;
  }
  return DenseMlp{plan.ffn > 0 ? plan.ffn : s.ffn, s.mlp_bias, plan.mlp_low_rank, plan.sparse_gate};
}

/// What a layer is built of that the whole model asks of it.
void check_kind(const Shape& s, const LayerKind& kind) {
  const bool has_both = !std::holds_alternative<NoMixer>(kind.mixer) && !std::holds_alternative<NoMlp>(kind.mlp);
  if (s.parallel_residual && !has_both) {
    throw quantity::BadInput("parallel_residual", "asks for attention and an MLP in every layer");
  }
  if (kind.cross_attention && !std::holds_alternative<GroupedAttention>(kind.mixer)) {
    throw quantity::BadInput("decoder_layers",
                             "attend to the encoder by plain attention, which these layers do not have");
  }
}

/// Appends a layer, sharing the kind of an equal one.
void append(Model& model, const LayerKind& kind) {
  check_kind(model.shape, kind);
  for (std::size_t i = 0; i < model.kinds.size(); ++i) {
    if (model.kinds[i] == kind) {
      model.layers.push_back(static_cast<std::uint8_t>(i));
      return;
    }
  }
  constexpr std::size_t most_kinds = 200;
  if (model.kinds.size() == most_kinds) {
    throw quantity::BadInput("layers", "are of more than 200 kinds, which is more than any model has");
  }
  model.kinds.push_back(kind);
  model.layers.push_back(static_cast<std::uint8_t>(model.kinds.size() - 1));
}

/// T5: the relative position bias is a table held by the first layer of each stack (modeling_t5.py,
/// has_relative_attention_bias = (i == 0)).
/// \param first  layer of its stack
LayerKind layer_kind(const Shape& s, std::int64_t layer, std::int64_t first) {
  const LayerPlan plan = plan_of(s, layer, layer - first);
  LayerKind kind{mixer(s, plan),    plan.crosses_to_tower, feed_forward(s, plan), plan.extra,
                 plan.idle_experts, plan.repeated,         plan.beside,           plan.projects_behind};
  auto* grouped = std::get_if<GroupedAttention>(&kind.mixer);
  if (grouped != nullptr && layer == first) grouped->relative_buckets = s.relative_buckets;
  return kind;
}

}  // namespace

Model build_model(Shape shape) {
  check_shape(shape);
  if (shape.position == Position::learned && shape.position_rows == 0) shape.position_rows = shape.max_position;
  Model model;
  const Shape& s = model.shape = std::move(shape);
  for (std::int64_t i = 0; i < s.layers; ++i) {
    LayerKind kind = layer_kind(s, i, 0);
    auto* grouped = std::get_if<GroupedAttention>(&kind.mixer);
    if (grouped != nullptr && s.stack == Stack::encoder_decoder) grouped->causal = false;
    append(model, kind);
  }
  if (s.stack != Stack::encoder_decoder) return model;
  model.encoder_layers = s.layers;
  for (std::int64_t i = 0; i < s.decoder_layers; ++i) {
    LayerKind kind = layer_kind(s, s.layers + i, s.layers);
    kind.cross_attention = true;
    append(model, kind);
  }
  return model;
}

void keep_adapters_to(const std::vector<std::int64_t>& layers, Model& model) {
  const std::vector<LayerKind> kinds = std::exchange(model.kinds, {});
  const std::vector<std::uint8_t> order = std::exchange(model.layers, {});
  for (std::size_t i = 0; i < order.size(); ++i) {
    LayerKind kind = kinds[order[i]];
    kind.takes_adapters = quantity::contains(layers, static_cast<std::int64_t>(i));
    append(model, kind);
  }
}

}  // namespace llmcalc::spec
