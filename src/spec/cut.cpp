#include "spec/cut.hpp"

#include "spec/traits.hpp"

#include <algorithm>
#include <variant>

namespace llmcalc::spec {
namespace {

/// False of models whose layers are recurrences alone.
bool attends(const LayerKind& kind) {
  const auto* state = std::get_if<StateSpace>(&kind.mixer);
  return state != nullptr ? state->beside.has_value() : !std::holds_alternative<NoMixer>(kind.mixer);
}

bool has_attention(const Model& model) { return std::ranges::any_of(model.kinds, attends); }

std::optional<Uneven> uneven_attention(const Shape& shape, std::int64_t tp) {
  if (shape.heads % tp != 0) return Uneven{"heads", "heads are spread over the ranks one by one"};
  const bool even = shape.kv_heads >= tp ? shape.kv_heads % tp == 0 : tp % shape.kv_heads == 0;
  if (shape.latent.kv_rank == 0 && !even) return Uneven{"kv_heads", "each rank needs as many of them as the others"};
  const bool dense = shape.moe.experts == 0 || shape.moe.dense_layers > 0 || shape.moe.every > 1;
  if (dense && shape.ffn % tp != 0) return Uneven{"ffn", "its columns are cut evenly"};
  return std::nullopt;
}

std::optional<ServerConflict> experts_conflict(const MoeShape& moe, const Layout& layout) {
  if (moe.experts == 0) return std::nullopt;
  if (moe.experts % layout.ep != 0) return ServerConflict{"ep", "experts", "each rank holds as many as the others"};
  if (moe.expert_ffn % layout.etp == 0) return std::nullopt;
  return ServerConflict{"expert_tp", "expert_ffn", "its columns are cut evenly", "--ep spreads whole experts"};
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
  if (auto found = experts_conflict(shape.moe, layout)) return found;
  if (layout.pp > question.model.layer_count()) return ServerConflict{"pp", "layers", "a stage has one layer at least"};
  if (auto found = cache_conflict(shape, layout.tp, serving.layout.dcp)) return found;
  const bool has_draft = serving.draft_model && !reads_gguf(serving.engine);
  if (!has_draft || serving.draft_model->model.shape.heads % layout.tp == 0) return std::nullopt;
  return ServerConflict{"tp", "draft", "the heads of the draft model are spread over the ranks one by one"};
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
