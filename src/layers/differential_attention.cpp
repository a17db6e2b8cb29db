// Differential attention (Ye et al. 2024, arXiv:2410.05258).
#include "layers/inner/attention.hpp"

namespace llmcalc::layers {

/// Two attentions with the same queries and keys, each over half of the values for all heads. Of the joined results the
/// heads of the second half, times a learned factor, are taken from those of the first; a norm without a weight stands
/// behind (transformers modeling_diffllama.py, DiffLlamaAttention.forward).
Value differential_attention(BlockBuilder& b, const CoreAttention& core, const Heads& heads) {
  const auto over_half = [&](std::string_view name) {
    const Value half = b.rearrange(heads.v, name, heads.v.rows, heads.v.columns, OpKind::permutation);
    return core_attention(b, core, {heads.q, heads.k, half});
  };
  const Value first = over_half("first half of the values");
  const Value second = over_half("second half of the values");
  const Value joined = b.value("joined results", first.rows, 2 * first.columns, first.width, first.needs_gradient);
  b.append(
      {.kind = OpKind::permutation, .name = "joined results", .inputs = {first.id, second.id}, .outputs = {joined.id}});
  const Value difference = b.rearrange(joined, "difference", first.rows, first.columns, OpKind::elementwise);
  if (b.context().trains_base) b.block().ops.back().saved.push_back(joined.id);
  return unweighted_heads(b, difference, 2 * core.v_dim, "heads norm");
}

}  // namespace llmcalc::layers
