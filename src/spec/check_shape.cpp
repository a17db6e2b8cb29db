#include "spec/inner/check_shape.hpp"

#include "llmcalc/quantity/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

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
  check({"qk_rope_dim", latent.qk_rope_dim, 1, widest});
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
  check({"inputs of a matrix beside", matrix.inputs, 1, widest});
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

}  // namespace

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

}  // namespace llmcalc::spec
