#include "layers/inner/core_attention.hpp"

#include "layers/inner/context_exchange.hpp"
#include "layers/inner/recomputed.hpp"
#include "layers/widths.hpp"

namespace llmcalc::layers {

using quantity::product;

namespace {

/// A class without other kernels runs written-out attention unless another is asked for (transformers
/// modeling_utils.py, _supports_sdpa; models gptj, bloom, mpt, gpt_oss; those that cap scores since release 5).
bool falls_back_to_eager(const Context& c) {
  if (!c.profile.kernels.transformers_modules || c.training.attention != spec::AttentionKernel::sdpa) return false;
  const auto& writing = c.shape().writing;
  return writing.eager_attention || (writing.caps_scores && c.profile.attention.sdpa_lacks_caps);
}

}  // namespace

bool fuses_attention(const Context& c) {
  if (falls_back_to_eager(c)) return false;
  if (c.profile.attention.writes_out_capped_scores && c.shape().writing.caps_scores) return false;
  return c.training.attention != spec::AttentionKernel::eager && !c.profile.attention.writes_out_scores;
}

bool lacks_flash(const Context& c, const CoreAttention& core) {
  return c.lacks_flash || core.qk_dim > widest_flash_head;
}

bool falls_back_to_math(const Context& c, const CoreAttention& core) {
  const bool asks_torch = c.profile.kernels.transformers_modules && c.training.attention == spec::AttentionKernel::sdpa;
  return asks_torch && core.grouped && lacks_flash(c, core);
}

bool reads_mask(const Context& c, const CoreAttention& core) {
  const bool takes_mask = fuses_attention(c) && c.training.attention != spec::AttentionKernel::flash;
  if (!takes_mask || !c.profile.kernels.transformers_modules || core.keys > 0) return false;
  const bool sees_images = !c.shape().towers.empty() && c.training.towers != spec::TowerUse::absent;
  const bool outgrows_window = core.window > 0 && c.attended >= core.window;
  return outgrows_window || c.pads || (c.shape().writing.masks_images && sees_images);
}

bool reads_views(const Context& c) { return fuses_attention(c) && !c.profile.attention.copies_heads; }

Value cached(BlockBuilder& b, const Value& x, std::string_view name) {
  if (b.context().training.method != spec::Method::inference) return x;
  const Value cache = b.value(name, x.rows, x.columns, x.width, false);
  b.block().tensors[cache.id].kept = Cached::by_position;
  Op& op = b.append({.kind = OpKind::permutation, .name = name, .inputs = {x.id}, .outputs = {cache.id}});
  op.saved.push_back(cache.id);
  return cache;
}

Value core_attention(BlockBuilder& b, CoreAttention core, const Heads& local) {
  const Recomputed again(b, spec::RecomputeModule::core_attn, {local.q, local.k, local.v});
  const Context& c = b.context();
  core.positions = c.spreads_heads ? product(c.seq, c.cp) : c.seq;
  if (core.block > 0) core.positions = quantity::ceil_to(core.positions, core.block);
  if (c.spreads_heads) core.heads /= c.cp;
  const Heads heads = c.spreads_heads ? exchange_positions(b, local) : local;
  core.in_fp32 = falls_back_to_math(c, core);
  const bool fuses = fuses_attention(c) && !core.in_fp32;
  const Value out = fuses ? fused_attention(b, core, heads) : written_out_attention(b, core, heads);
  return c.spreads_heads ? exchange_heads(b, out) : out;
}

}  // namespace llmcalc::layers
