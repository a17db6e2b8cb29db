#include "llmcalc/spec/model.hpp"

#include "llmcalc/quantity/error.hpp"
#include "llmcalc/spec/shape.hpp"
#include "quantity/lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace llmcalc::spec {

namespace {

using quantity::BadInput;

// Far above any model that exists, far below where products of four dimensions leave 64 bits unnoticed.
constexpr std::int64_t most_layers = 100'000;
constexpr std::int64_t widest = 10'000'000;
constexpr std::int64_t most_heads = 100'000;
constexpr std::int64_t most_experts = 1'000'000;
constexpr std::int64_t most_positions = 10'000'000'000;

struct Range {
  std::string_view field;
  std::int64_t value;
  std::int64_t least;
  std::int64_t most;
};

void check(const Range& range) {
  if (range.value >= range.least && range.value <= range.most) return;
  if (range.value == 0) throw BadInput(std::string(range.field), "is missing", fmt::format("give --{}", range.field));
  throw BadInput(std::string(range.field),
                 fmt::format("{} is out of range, expected {} to {}", range.value, range.least, range.most));
}

void check_heads(const Shape& s) {
  if (s.kv_heads > s.heads || s.heads % s.kv_heads != 0) {
    throw BadInput("kv_heads", fmt::format("{} does not divide the {} query heads", s.kv_heads, s.heads));
  }
}

void check_moe(const Shape& s) {
  if (s.moe.experts == 0) return;
  check({"experts", s.moe.experts, 1, most_experts});
  check({"top_k", s.moe.top_k, 1, s.moe.experts});
  check({"expert_ffn", s.moe.expert_ffn, 1, widest});
  check({"expert_width", s.moe.expert_width, 0, widest});
  check({"shared_ffn", s.moe.shared_ffn, 0, widest});
  check({"dense_layers", s.moe.dense_layers, 0, s.layers});
  check({"moe_every", s.moe.every, 1, most_layers});
}

void check_latent(const LatentShape& latent) {
  if (latent.kv_rank == 0) return;
  check({"kv_rank", latent.kv_rank, 1, widest});
  check({"q_rank", latent.q_rank, 0, widest});
  check({"qk_nope_dim", latent.qk_nope_dim, 1, widest});
  check({"qk_rope_dim", latent.qk_rope_dim, 0, widest});
  check({"v_dim", latent.v_dim, 1, widest});
  check({"index_heads", latent.index_heads, 0, most_heads});
  if (latent.index_heads == 0) return;
  check({"index_dim", latent.index_dim, 1, widest});
  check({"index_top_k", latent.index_top_k, 1, most_positions});
}

void check_linear(const LinearAttentionShape& linear) {
  if (linear.full_every == 0) return;
  check({"linear_key_heads", linear.key_heads, 1, most_heads});
  check({"linear_value_heads", linear.value_heads, 1, most_heads});
  check({"linear_key_dim", linear.key_dim, 1, widest});
  check({"linear_value_dim", linear.value_dim, 1, widest});
  check({"linear_conv_kernel", linear.conv_kernel, 1, widest});
}

void check_state(const Shape& s) {
  const StateShape& state = s.state;
  const auto is_state = [](const LayerPlan& plan) { return plan.mixer == MixerWord::state_space; };
  if (state.width == 0 && std::ranges::none_of(s.plan, is_state)) return;
  check({"state_width", state.width, 1, widest});
  check({"state_heads", state.heads, 0, widest});
  check({"state_size", state.state, 0, widest});
  check({"state_groups", state.groups, 1, most_heads});
  check({"state_conv_kernel", state.conv_kernel, 1, widest});
  check({"state_step_rank", state.step_rank, 0, widest});
  check({"state_block", state.block, state.form == StateForm::lightning ? 1 : 0, most_positions});
}

void check_side(const Projection& matrix) {
  const bool is_table = matrix.role == Role::layer_input_table;
  check({"inputs of a matrix beside", matrix.inputs, 1, is_table ? most_positions : widest});
  check({"outputs of a matrix beside", matrix.outputs, 1, widest});
}

/// Sizes of single layers are held to the bounds of the shape's own.
void check_plan(const Shape& s) {
  for (const LayerPlan& plan : s.plan) {
    check({"heads", plan.heads, 0, most_heads});
    check({"kv_heads", plan.kv_heads, 0, most_heads});
    check({"head_dim", plan.head_dim, 0, widest});
    check({"value_dim", plan.value_dim, 0, widest});
    check({"input_width", plan.input_width, 0, widest});
    check({"query_rank", plan.query_rank, 0, widest});
    check({"output_rank", plan.output_rank, 0, widest});
    check({"output_groups", plan.output_groups, plan.output_rank > 0 ? 1 : 0, most_heads});
    check({"positions_a_key", plan.positions_a_key, plan.index_heads > 0 ? 1 : 0, most_positions});
    check({"index_heads", plan.index_heads, 0, most_heads});
    check({"index_dim", plan.index_dim, plan.index_heads > 0 ? 1 : 0, widest});
    check({"index_top_k", plan.index_top_k, plan.index_heads > 0 ? 1 : 0, most_positions});
    check({"low_rank", plan.low_rank, 0, widest});
    check({"mlp_low_rank", plan.mlp_low_rank, 0, widest});
    for (const Projection& matrix : plan.beside) check_side(matrix);
    check({"ffn", plan.ffn, 0, widest});
    check({"expert_ffn", plan.expert_ffn, 0, widest});
    check({"extra", plan.extra, 0, most_positions});
    check({"idle_experts", plan.idle_experts, 0, widest});
  }
}

void check_hidden_states(const Shape& s) {
  check({"layer_input_width", s.layer_inputs.width, 0, widest});
  check({"layer_input_vocab", s.layer_inputs.vocab, 0, widest * 10});
  check({"stream_count", s.streams.count, 0, most_heads});
  check({"residual_rank", s.streams.residual_rank, s.streams.count > 0 ? 1 : 0, widest});
  check({"memory_width", s.memory_width, 0, widest});
}

void check_tables(const Shape& s) {
  check({"position_rows", s.position_rows, 0, most_positions});
  check({"relative_buckets", s.relative_buckets, 0, most_positions});
  check({"token_types", s.token_types, 0, widest});
  check({"embedding_width", s.embedding_width, 0, widest});
  check({"window", s.window.window, 0, most_positions});
  check({"full_every", s.window.full_every, 0, most_layers});
}

/// \throws quantity::BadInput naming the field ("hidden"), the value and what was expected
void check_shape(const Shape& s) {
  check({"layers", s.layers, 1, most_layers});
  check({"hidden", s.hidden, 1, widest});
  check({"heads", s.heads, 1, most_heads});
  check({"kv_heads", s.kv_heads, 1, most_heads});
  check({"head_dim", s.head_dim, 1, widest});
  const bool planned = !s.plan.empty();  // each layer says whether it has an MLP, and how wide it is
  check({"ffn", s.ffn, planned || (s.moe.experts > 0 && s.moe.dense_layers == 0) ? 0 : 1, widest});
  check({"vocab", s.vocab, 1, widest * 10});
  check({"max_position", s.max_position, 0, most_positions});
  if (s.stack == Stack::encoder_decoder) check({"decoder_layers", s.decoder_layers, 1, most_layers});
  check_heads(s);
  check_moe(s);
  check_latent(s.latent);
  check_linear(s.linear);
  check_state(s);
  check_plan(s);
  check_hidden_states(s);
  check({"extra", s.extra, 0, most_positions});
  check_tables(s);
  if (!(s.dropout >= 0.0 && s.dropout < 1.0)) {
    throw BadInput("dropout", fmt::format("{} is not a probability below 1", s.dropout));
  }
}

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
  a.merges_memory = plan.merges_memory;
  a.low_rank = plan.low_rank;
  a.input_width = plan.input_width;
  a.query_rank = plan.query_rank;
  a.output_rank = plan.output_rank;
  a.output_groups = plan.output_groups;
  a.positions_a_key = plan.positions_a_key;
  a.index_heads = plan.index_heads;
  a.index_dim = plan.index_dim;
  a.index_top_k = plan.index_top_k;
  a.window = plan.windowed && !plan.merges_memory ? s.window.window : 0;
  a.qk_norm = !plan.attends_to_tower ? s.qk_norm : plan.norms_tower_heads ? QkNorm::per_head : QkNorm::none;
  a.qkv_bias = s.qkv_bias;
  a.out_bias = s.out_bias;
  a.output_gate = s.output_gate;
  a.sinks = s.attention_sinks;
  a.xl_projection = s.xl_projection;
  a.causal = s.stack != Stack::encoder && !plan.attends_to_tower && !plan.merges_memory;
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

/// Parts of a layer that the whole model asks of it.
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
    const auto* grouped = std::get_if<GroupedAttention>(&kind.mixer);
    kind.cross_attention = grouped == nullptr || !grouped->merges_memory;
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
