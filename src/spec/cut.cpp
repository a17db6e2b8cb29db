#include "spec/cut.hpp"

#include "llmcalc/quantity/checked.hpp"
#include "quantity/lists.hpp"
#include "spec/traits.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

namespace llmcalc::spec {
namespace {

/// False of models whose layers are recurrences alone.
bool attends(const LayerKind& kind) {
  const auto* state = std::get_if<StateSpace>(&kind.mixer);
  return state != nullptr ? state->beside.has_value() : !std::holds_alternative<NoMixer>(kind.mixer);
}

bool has_attention(const Model& model) { return std::ranges::any_of(model.kinds, attends); }

/// Layers that every token passes through are among them.
bool has_dense(const Shape& shape) {
  return shape.moe.experts == 0 || shape.moe.dense_layers > 0 || shape.moe.every > 1;
}

std::optional<Uneven> uneven_attention(const Shape& shape, std::int64_t tp) {
  if (shape.heads % tp != 0) return Uneven{"heads", "heads are spread over the ranks one by one"};
  const bool even = shape.kv_heads >= tp ? shape.kv_heads % tp == 0 : tp % shape.kv_heads == 0;
  if (shape.latent.kv_rank == 0 && !even) return Uneven{"kv_heads", "each rank needs as many of them as the others"};
  if (has_dense(shape) && shape.ffn % tp != 0) return Uneven{"ffn", "its columns are cut evenly"};
  return std::nullopt;
}

/// Engines whose quantized layers take whole tiles of a matrix that share a scale, or do not start: vLLM
/// model_executor/layers/quantization/fp8.py, Fp8MoEMethod.create_weights ("The output_size of gate's and up's weight =
/// 192 is not divisible by weight quantization block_n = 128", issue 17569; 0.25 does so still) and utils/fp8_utils.py,
/// validate_fp8_block_shape; SGLang srt/layers/quantization/fp8.py, the same methods (issue 10641).
constexpr bool takes_whole_tiles[] = {true, true, false, false, false, false};

/// Whether columns are so many tiles that share a scale and no part of one.
bool is_whole(std::int64_t columns, formats::Quant quant) {
  const std::int64_t tile = formats::facts(quant).tile;
  return tile == 0 || columns % tile == 0;
}

/// The scheme whose tiles the engine wants whole; 16 bits, which have none, of an engine that takes parts of them.
formats::Quant tiled(const Question& question) {
  const bool whole = takes_whole_tiles[static_cast<std::size_t>(question.serving.engine)];
  return whole ? question.serving.quant : formats::Quant::bf16;
}

constexpr std::string_view why_whole = "a rank's columns of a matrix are whole tiles that share a scale";

std::optional<ServerConflict> experts_conflict(const Question& question) {
  const MoeShape& moe = question.model.shape.moe;
  const Layout& layout = question.layout;
  if (moe.experts == 0) return std::nullopt;
  constexpr std::string_view hint = "--ep spreads whole experts";
  if (moe.experts % layout.ep != 0) return ServerConflict{"ep", "experts", "each rank holds as many as the others"};
  if (moe.expert_ffn % layout.etp != 0)
    return ServerConflict{"expert_tp", "expert_ffn", "its columns are cut evenly", hint};
  const bool whole = layout.etp == 1 || is_whole(moe.expert_ffn / layout.etp, formats::of_experts(tiled(question)));
  return whole ? std::nullopt : std::optional(ServerConflict{"expert_tp", "quant", why_whole, hint});
}

std::optional<ServerConflict> dense_conflict(const Question& question) {
  const Shape& shape = question.model.shape;
  const std::int64_t tp = question.layout.tp;
  const bool whole = tp == 1 || !has_dense(shape) || is_whole(shape.ffn / tp, tiled(question));
  return whole ? std::nullopt : std::optional(ServerConflict{"tp", "quant", why_whole});
}

/// Ranks that share a sequence's cache are some of those that share its heads (vLLM config/parallel.py:
/// tensor_parallel_size must be divisible by decode_context_parallel_size), those that would hold the same ones
/// (config/model.py, verify_with_parallel_config: at most tp / kv_heads).
std::optional<ServerConflict> cache_conflict(const Shape& shape, std::int64_t tp, std::int64_t dcp) {
  if (tp % dcp != 0)
    return ServerConflict{"dcp", "tp", "each group of tensor-parallel ranks is cut into groups of that size"};
  if (dcp == 1 || shape.latent.kv_rank > 0 || dcp * shape.kv_heads <= tp) return std::nullopt;
  return ServerConflict{"dcp", "kv_heads", "ranks share a cache that they hold copies of, at most tp / kv_heads"};
}

}  // namespace

std::optional<ServerConflict> server_conflict(const Question& question) {
  const Layout& layout = question.layout;
  const Serving& serving = question.serving;
  const Shape& shape = question.model.shape;
  if (const auto uneven = uneven_cut(question.model, layout.tp)) return ServerConflict{"tp", uneven->term, uneven->why};
  if (auto found = experts_conflict(question)) return found;
  if (auto found = dense_conflict(question)) return found;
  if (layout.pp > question.model.layer_count()) return ServerConflict{"pp", "layers", "a stage has one layer at least"};
  if (auto found = cache_conflict(shape, layout.tp, serving.layout.dcp)) return found;
  const bool has_draft = serving.draft_model && !reads_gguf(serving.engine);
  if (!has_draft || serving.draft_model->model.shape.heads % layout.tp == 0) return std::nullopt;
  return ServerConflict{"tp", "draft", "the heads of the draft model are spread over the ranks one by one"};
}

std::optional<ServerConflict> share_experts(Question& question) {
  Layout& layout = question.layout;
  const std::int64_t ranks = layout.tp * question.serving.layout.attention_dp;
  layout.ep = 1;
  layout.etp = ranks;
  auto conflict = experts_conflict(question);
  if (!conflict || question.model.shape.moe.experts % ranks != 0) return std::nullopt;
  std::swap(layout.ep, layout.etp);
  return conflict;
}

void copy_whole(Question& question) {
  constexpr Engine cutting[] = {
#include "engines/cuts_dense.inc"
  };
  auto& attention = question.serving.layout.attention_dp;
  const bool shares = question.model.shape.moe.experts > 0 || question.layout.ep > 1;
  if (shares || quantity::contains(cutting, question.serving.engine)) return;
  question.layout.dp = quantity::product(question.layout.dp, std::exchange(attention, 1));
}

std::optional<Uneven> uneven_cut(const Model& model, std::int64_t tp) {
  const Shape& shape = model.shape;
  if (has_attention(model)) {
    if (const auto found = uneven_attention(shape, tp)) return found;
  }
  if (shape.linear.key_heads % tp != 0 || shape.linear.value_heads % tp != 0) {
    return Uneven{"model", "the heads of its linear attention are spread over the ranks one by one"};
  }
  if (shape.state.width % tp != 0 || shape.state.heads % tp != 0) {
    return Uneven{"model", "the channels of its recurrent layers are spread over the ranks"};
  }
  return std::nullopt;
}

}  // namespace llmcalc::spec
