#include "spec/cut.hpp"

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

}  // namespace

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
