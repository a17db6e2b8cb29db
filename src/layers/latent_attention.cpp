#include "layers/inner/attention.hpp"
#include "layers/inner/builder.hpp"
#include "layers/inner/parts.hpp"

namespace llmcalc::layers {

namespace {

/// Queries from their low-rank bottleneck, or from the hidden state where there is none.
Value latent_queries(BlockBuilder& b, const spec::LatentAttention& a, const Value& latent) {
  const Role role = a.ranks.q_rank == 0 ? Role::query : Role::query_up;
  return b.linear(latent, {role, latent.columns, a.heads * a.qk_dim(), false, Cut::columns});
}

/// A part of what the projection made, copied out of it (Megatron-LM core/transformer/multi_latent_attention.py, value)
/// or not (transformers modeling_deepseek_v3.py, DeepseekV3Attention.forward; torchtitan models/deepseek_v3/model.py).
Value values_of(BlockBuilder& b, const Value& up, std::int64_t width) {
  if (!reads_views(b.context())) return b.rearrange(up, "values", up.rows, width, OpKind::permutation);
  return columns_of(up, width);
}

}  // namespace

/// Keys and values share a latent of kv_rank; the rotary part of the key, one head wide, bypasses it and is repeated
/// to all heads when the full key is put together.
Value latent_attention(BlockBuilder& b, const spec::LatentAttention& a, const Value& x) {
  const Context& c = b.context();
  const auto& r = a.ranks;
  const std::int64_t heads = a.heads / c.tp;
  const Value q_down = r.q_rank == 0 ? x : b.linear(x, {Role::query_down, x.columns, r.q_rank});
  const Value projected = b.linear(x, {Role::key_value_down, x.columns, r.kv_rank + r.qk_rope_dim});
  const Value down = cached(b, projected, "latent cache");

  Recomputed again(b, spec::RecomputeModule::mla_up_proj, {q_down, down});
  const Value q_latent = r.q_rank == 0 ? q_down : b.norm(q_down, "q latent norm", spec::Norm::rmsnorm);
  const Value q = latent_queries(b, a, q_latent);
  choose_positions(b, a, x, q_latent);
  Value latent = down;
  latent.columns = r.kv_rank;
  const Value normed = b.norm(latent, "kv latent norm", spec::Norm::rmsnorm);
  const Value up =
      b.linear(normed, {Role::key_value_up, r.kv_rank, a.heads * (r.qk_nope_dim + r.v_dim), false, Cut::columns});
  Value k = rescaled(b, b.rearrange(up, "keys", up.rows, heads * a.qk_dim(), OpKind::permutation), "rescaled keys");
  Value v = rescaled(b, values_of(b, up, heads * r.v_dim), "rescaled values");
  k = behind_prefix(b, k, "keys behind prefix");
  v = behind_prefix(b, v, "values behind prefix");
  again.discard({q, k, v});

  CoreAttention core{heads, a.qk_dim(), r.v_dim, 0, true};
  core.masked = reads_mask(c, core);
  const Value mixed = core_attention(b, core, {q, k, v});
  again.remake();
  return b.linear(mixed, {Role::attention_out, a.heads * r.v_dim, x.columns, false, Cut::rows});
}

}  // namespace llmcalc::layers
