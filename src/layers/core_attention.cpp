#include "layers/inner/attention.hpp"
#include "layers/inner/builder.hpp"
#include "layers/widths.hpp"

#include <algorithm>

namespace llmcalc::layers {

using quantity::flops;
using quantity::product;

namespace {

/// A class without other kernels runs written-out attention unless another is asked for (transformers
/// modeling_utils.py, _supports_sdpa; models gptj, bloom, mpt, gpt_oss; those that cap scores since release 5.21).
bool falls_back_to_eager(const Context& c) {
  if (!c.profile.kernels.transformers_modules || c.training.attention != spec::AttentionKernel::sdpa) return false;
  const auto& writing = c.shape().writing;
  return writing.eager_attention || (writing.caps_scores && c.profile.attention.sdpa_lacks_caps);
}

/// Scratch of the FlashAttention-2 backward: fp32 dQ rounded up to 128 rows and 32 columns a head, one fp32 a row and
/// head, and dK, dV expanded to all query heads (flash-attention csrc/flash_attn/flash_api.cpp, mha_bwd).
void flash_backward_workspace(const Context& c, const CoreAttention& core, const Value& q, const Value& k, Op& op) {
  const std::int64_t rows = quantity::ceil_to(core.positions, 128);
  const std::int64_t dim = quantity::ceil_to(core.qk_dim, 32);
  op.scratch_tensor = quantity::bytes(product(4, c.batch, rows, core.heads, dim));
  std::int64_t beside = product(4, c.batch, rows, core.heads);
  if (k.columns < q.columns) beside += product(2, q.rows, q.columns, c.width);
  op.workspace_backward = op.scratch_tensor + quantity::bytes(beside);
}

/// Queries, keys and values are narrowed before the kernel, and the gradient of its output backward; gradients are
/// widened again for the projection's own quantization (TransformerEngine
/// pytorch/attention/dot_product_attention/backends.py, FusedAttnFunc).
void quantize_heads(BlockBuilder& b, const Heads& heads, const Value& out) {
  constexpr std::int64_t narrow_width = 1;
  const auto elements = [](const Value& x) { return product(x.rows, x.columns); };
  const std::int64_t inputs = elements(heads.q) + elements(heads.k) + elements(heads.v);
  const std::int64_t passes = heads.q.width + narrow_width;
  b.pass_over("quantization of heads", quantity::bytes(product(passes, inputs)),
              quantity::bytes(product(passes, inputs + elements(out))));
}

/// Mask of truth values, which each layer turns into numbers to add (pytorch
/// aten/src/ATen/native/transformers/attention.cpp, convert_boolean_attn_mask).
void keep_mask(BlockBuilder& b, const CoreAttention& core, const Value& q) {
  b.keep_for_backward("attention mask", q.rows, seen(b.context(), core), q.width);
}

/// True if PyTorch has no FlashAttention for these heads: they are too wide or in 32 bits, or the accelerator is too
/// old (pytorch aten/src/ATen/native/transformers/cuda/sdp_utils.cpp, use_flash_attention).
bool lacks_flash(const Context& c, const CoreAttention& core) {
  return c.lacks_flash || core.qk_dim > widest_flash_head;
}

/// A kernel writes its result as its queries lie; what lies head by head is copied behind it (pytorch aten/src/ATen/
/// native/transformers/cuda/flash_attn/flash_api.cpp, mha_fwd: empty_like; transformers integrations/sdpa_attention.py,
/// the contiguous transposition). Kernels for what FlashAttention does not take, and with a mask, write by position
/// (cuda/attention.cu, _efficient_attention_forward).
bool copies_output(const Context& c, const CoreAttention& core) {
  if (c.profile.attention.copies_output) return c.batch > 1;
  const bool by_position = core.masked || lacks_flash(c, core) || core.qk_dim != core.v_dim;
  return c.writes(&spec::Writing::rotates_by_head) && !by_position;
}

/// Share of the scores that a mask leaves: of n queries behind p cached positions the i-th sees p + i of them, or the
/// last w where a window is narrower.
double share_behind_cache(const Context& c, const CoreAttention& core) {
  const auto n = static_cast<double>(c.seq);
  const auto p = static_cast<double>(c.attended - c.seq);
  const auto w = core.window == 0 ? p + n : static_cast<double>(core.window);
  const double growing = std::clamp(w - p, 0.0, n);  // queries that still see everything
  const double pairs = growing * (p + (growing + 1.0) / 2.0) + (n - growing) * w;
  return pairs / (n * (p + n));
}

}  // namespace

bool fuses_attention(const Context& c) {
  if (falls_back_to_eager(c)) return false;
  if (c.profile.attention.writes_out_capped_scores && c.shape().writing.caps_scores) return false;
  return c.training.attention != spec::AttentionKernel::eager && !c.profile.attention.writes_out_scores;
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

Value cached(BlockBuilder& b, const Value& x, std::string_view name, Cached kept) {
  if (b.context().training.method != spec::Method::inference) return x;
  const Value cache = b.value(name, x.rows, x.columns, x.width, false);
  b.block().tensors[cache.id].kept = kept;
  Op& op = b.append({.kind = OpKind::permutation, .name = name, .inputs = {x.id}, .outputs = {cache.id}});
  op.saved.push_back(cache.id);
  return cache;
}

/// Autocast narrows what attention reads (pytorch aten/src/ATen/autocast_mode.h: scaled_dot_product_attention).
Heads narrowed(BlockBuilder& b, const Heads& heads) {
  const Context& c = b.context();
  if (!c.autocast) return heads;
  return {b.cast(heads.q, c.width, "queries (16 bit)"), b.cast(heads.k, c.width, "keys (16 bit)"),
          b.cast(heads.v, c.width, "values (16 bit)")};
}

namespace {

bool keeps_context(const Context& c) { return c.selects_operations || c.keeps(spec::KeptResult::context); }

/// Queries, keys and values have names (MaxText layers/attentions.py, checkpoint_name behind the rotary embedding).
void keep_named(BlockBuilder& b, const Heads& heads) {
  const Context& c = b.context();
  if (c.keeps(spec::KeptResult::query)) b.keep_through_recompute(heads.q);
  if (c.keeps(spec::KeptResult::key)) b.keep_through_recompute(heads.k);
  if (c.keeps(spec::KeptResult::value)) b.keep_through_recompute(heads.v);
}

/// One kernel, without scores in memory.
Value fused_attention(BlockBuilder& b, const CoreAttention& core, const Heads& heads) {
  const auto& [q, k, v] = heads;
  const Context& c = b.context();
  if (core.masked) keep_mask(b, core, q);
  const bool differentiates = q.needs_gradient || k.needs_gradient || v.needs_gradient;
  const Value out = b.value("attention output", q.rows, core.heads * core.v_dim, q.width, differentiates);
  Op op{.kind = OpKind::attention,
        .name = "flash attention",
        .inputs = {q.id, k.id, v.id},
        .outputs = {out.id},
        .saved = {q.id, k.id, v.id, out.id}};
  if (c.profile.attention.keeps_log_sum_exp) {
    const Value sums = b.value("log-sum-exp", product(c.batch, core.positions), core.heads, 4, false);
    if (keeps_context(c)) b.keep_through_recompute(sums);
    op.outputs.push_back(sums.id);
    op.saved.push_back(sums.id);
  }
  op.wide = q.width == fp32_width;
  op.product = per_head(c, core);
  const double square = square_flops(c, core);
  const double share = unmasked_share(c, core);
  op.forward = flops(square * share);
  op.masked = flops(square * (1.0 - share));
  op.computes_masked = core.masked;
  if (differentiates) {
    op.backward_input = flops(2.0 * square * share);
    // The backward kernel computes Q K^T again: five products instead of four (Dao 2023, arXiv:2307.08691 §3.1).
    op.kernel_recompute =
        flops(square * share * static_cast<double>(core.qk_dim) / static_cast<double>(core.qk_dim + core.v_dim));
  }
  if (c.training.fp8_attention) quantize_heads(b, heads, out);
  if (c.profile.kernels.have_workspace) flash_backward_workspace(c, core, q, k, op);
  if (c.cp > 1 && !c.spreads_heads) pass_round(c, heads, out, op);
  b.append(op);
  if (c.cp > 1 && !c.spreads_heads && c.profile.attention.merges_ring_steps) merge_steps(b, heads, out);
  if (keeps_context(c)) b.keep_through_recompute(out);
  if (!copies_output(c, core)) return out;
  return b.rearrange(out, "attention output by position", out.rows, out.columns, OpKind::permutation);
}

}  // namespace

std::int64_t seen(const Context& c, const CoreAttention& core) {
  if (core.block > 0) return 3 * core.block;
  return core.keys > 0 ? core.keys : c.attended;
}

double unmasked_share(const Context& c, const CoreAttention& core) {
  if (core.keys > 0 || core.block > 0) return 1.0;
  if (core.causal && c.training.cached > 0) return share_behind_cache(c, core);
  const std::int64_t seq = c.attended - c.prefix;
  const std::int64_t documents = c.training.document_length;
  const std::int64_t longest = documents == 0 ? seq : std::min(documents, seq);
  const auto s = static_cast<double>(seq);
  const auto d = static_cast<double>(longest);
  const auto prefix = static_cast<double>(c.prefix);
  if (!core.causal) return (prefix + d) / (prefix + s);
  const auto w = static_cast<double>(core.window == 0 ? longest : std::min(core.window, longest));
  return (prefix + w * (1.0 - (w - 1.0) / (2.0 * d))) / (prefix + s);
}

double square_flops(const Context& c, const CoreAttention& core) {
  return 2.0 * static_cast<double>(product(c.batch, core.positions)) * static_cast<double>(seen(c, core)) *
         static_cast<double>(core.heads) * static_cast<double>(core.qk_dim + core.v_dim);
}

Product per_head(const Context& c, const CoreAttention& core) {
  return {core.positions, seen(c, core), core.qk_dim, product(c.batch, core.heads)};
}

// Differential attention (Ye et al. 2024, arXiv:2410.05258).

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

Value core_attention(BlockBuilder& b, CoreAttention core, const Heads& local) {
  const Recomputed again(b, spec::RecomputeModule::core_attn, {local.q, local.k, local.v});
  const Context& c = b.context();
  core.positions = c.spreads_heads ? product(c.seq, c.cp) : c.seq;
  if (core.block > 0) core.positions = quantity::ceil_to(core.positions, core.block);
  if (c.spreads_heads) core.heads /= c.cp;
  const Heads heads = narrowed(b, c.spreads_heads ? exchange_positions(b, local) : local);
  keep_named(b, heads);
  core.in_fp32 = falls_back_to_math(c, core);
  const bool fuses = fuses_attention(c) && !core.in_fp32;
  const Value out = fuses ? fused_attention(b, core, heads) : written_out_attention(b, core, heads);
  if (c.keeps(spec::KeptResult::context)) b.keep_through_recompute(out);
  return c.spreads_heads ? exchange_heads(b, out) : out;
}

}  // namespace llmcalc::layers
