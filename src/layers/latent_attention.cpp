// Latent attention, and the indexer that chooses the positions which it sees.
#include "layers/inner/attention.hpp"
#include "layers/inner/builder.hpp"
#include "layers/inner/parts.hpp"
#include "layers/widths.hpp"

#include <algorithm>

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

using quantity::product;

namespace {

/// A product that no gradient goes through: its matrix stays as it is, and adapters beside it only run.
Value constant_product(BlockBuilder& b, const Value& x, Role role, std::int64_t columns) {
  const std::string_view name = spec::label_of(role);
  const Context& c = b.context();
  Weight w{.role = role, .name = name, .elements = product(x.columns, columns), .whole = product(x.columns, columns)};
  w.active = w.whole;
  w.rows = x.columns;
  w.columns = columns;
  w.dtype = c.matrix_type;
  w.trainable = false;
  const Value out = b.value(name, x.rows, columns, c.width, false);
  Op op{.kind = OpKind::linear, .name = name, .inputs = {x.id}, .outputs = {out.id}};
  op.weight = b.weight(w);
  op.product = {x.rows, columns, x.columns, 1};
  op.forward = quantity::flops(2.0 * static_cast<double>(x.rows) * static_cast<double>(w.whole));
  b.append(op);
  return b.adapted_constant(x, out, {role, x.columns, columns});
}

/// Layers that choose for those behind them hand the positions on, which checkpoints hold beside the hidden state
/// (transformers modeling_glm_moe_dsa.py, GlmMoeDsaDecoderLayer.forward, prev_topk_indices).
void hand_on(BlockBuilder& b, const spec::LatentShape& n, const Value& scores) {
  const Context& c = b.context();
  if (!c.shape().writing.hands_on_index || !c.profile.kernels.transformers_modules || !c.differentiates) return;
  const std::int64_t chosen = std::min(n.index_top_k, c.attended);
  const Value positions = b.value("chosen positions", scores.rows, chosen, sizeof(std::int32_t), false);
  b.append({.kind = OpKind::routing, .name = "choice", .inputs = {scores.id}, .outputs = {positions.id}});
  b.keep_through_recompute(positions);
}

/// A score a head, query and position in fp32 where tensors are written out, and their sum over the heads; kernels
/// leave the sum alone (deepseek-ai/DeepSeek-V3.2-Exp inference/kernel.py, fp8_index).
void score(BlockBuilder& b, const spec::LatentShape& n, const Value& q, const Value& k, const Value& weights) {
  const Context& c = b.context();
  const std::int64_t scored = product(q.rows, c.attended);
  Op op{.kind = OpKind::scores, .name = "index scores", .inputs = {q.id, k.id, weights.id}};
  const bool sums = c.profile.kernels.transformers_modules;
  const std::int64_t products = product(n.index_heads, n.index_dim + (sums ? 1 : 0));
  op.forward = quantity::flops(2.0 * static_cast<double>(scored) * static_cast<double>(products));
  if (sums) op.workspace_forward = quantity::bytes(product(scored, n.index_heads, fp32_width));
  const Value scores = b.value("index scores", q.rows, c.attended, fp32_width, false);
  op.outputs.push_back(scores.id);
  b.append(op);
  hand_on(b, n, scores);
}

/// Kernels of PyTorch read the choice as a mask, which each layer makes and keeps (modeling_deepseek_v32.py,
/// DeepseekV32Attention.forward, index_mask).
void mask_others(BlockBuilder& b, const Value& x) {
  const Context& c = b.context();
  if (!c.profile.kernels.transformers_modules || !fuses_attention(c)) return;
  b.keep_for_backward("mask of positions not chosen", x.rows, c.attended, x.width);
}

}  // namespace

/// Queries of some heads and keys of one, weighted a head, score every position, and attention sees the best of them.
/// Nothing is differentiated, so the language model's loss trains none of it (DeepSeek-V3.2-Exp report, section 2;
/// transformers modeling_deepseek_v32.py, DeepseekV32Indexer.forward under torch.no_grad()).
void choose_positions(BlockBuilder& b, const spec::LatentAttention& a, const Value& x, const Value& q_latent) {
  const spec::LatentShape& n = a.ranks;
  if (n.index_heads == 0) return;
  mask_others(b, x);
  if (a.borrows_index) return;
  const Value q = constant_product(b, q_latent, Role::index_query, n.index_heads * n.index_dim);
  const Value k = constant_product(b, x, Role::index_key, n.index_dim);
  const WeightId norm = b.vector("index key norm", 2 * n.index_dim);
  b.block().weights[norm].trainable = false;
  const Value weights = constant_product(b, x, Role::index_weight, n.index_heads);
  score(b, n, q, cached(b, k, "index key cache", Cached::index), weights);
}

}  // namespace llmcalc::layers
