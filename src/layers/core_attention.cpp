#include "layers/attention.hpp"
#include "layers/context_exchange.hpp"
#include "layers/recomputed.hpp"
#include "llmcalc/layers/widths.hpp"

#include <algorithm>

namespace llmcalc::layers {

using quantity::flops;
using quantity::product;

namespace {

/// Of n queries behind p cached positions the i-th sees p + i of them, or the last w where a window is narrower.
double share_behind_cache(const Context& c, const CoreAttention& core) {
  const auto n = static_cast<double>(c.seq);
  const auto p = static_cast<double>(c.attended - c.seq);
  const auto w = core.window == 0 ? p + n : static_cast<double>(core.window);
  const double growing = std::clamp(w - p, 0.0, n);  // queries that still see everything
  const double pairs = growing * (p + (growing + 1.0) / 2.0) + (n - growing) * w;
  return pairs / (n * (p + n));
}

/// Positions that a query of these heads may see, masked or not.
std::int64_t seen(const Context& c, const CoreAttention& core) {
  if (core.block > 0) return 3 * core.block;
  return core.keys > 0 ? core.keys : c.attended;
}

/// The share of the s x s score square that the mask leaves: (s+1)/(2s) under a causal mask, (w/s)(1 - (w-1)/(2s))
/// under a causal window of w positions, 1 without a mask. Exact counts of unmasked pairs; a learned prefix is seen by
/// all. Of documents packed into a sequence each is a square of its own (flash-attention csrc/flash_attn/flash_api.cpp,
/// mha_varlen_fwd).
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

/// Scores and their use: 2*T*s FLOPs a query element and as many a value element (Korthikanti et al. 2022, appendix A).
double square_flops(const Context& c, const CoreAttention& core) {
  return 2.0 * static_cast<double>(product(c.batch, core.positions)) * static_cast<double>(seen(c, core)) *
         static_cast<double>(core.heads) * static_cast<double>(core.qk_dim + core.v_dim);
}

/// Scratch of the FlashAttention-2 backward: fp32 dQ rounded up to 128 rows and 32 columns a head, one fp32 a row and
/// head, and dK, dV expanded to all query heads (flash-attention csrc/flash_attn/flash_api.cpp, mha_bwd).
quantity::Bytes flash_backward_workspace(const Context& c, const CoreAttention& core, const Value& q, const Value& k) {
  const std::int64_t rows = quantity::ceil_to(core.positions, 128);
  const std::int64_t dim = quantity::ceil_to(core.qk_dim, 32);
  std::int64_t elements = product(c.batch, rows, core.heads, dim) + product(c.batch, rows, core.heads);
  std::int64_t expanded = 0;
  if (k.columns < q.columns) expanded = product(2, q.rows, q.columns, c.width);
  return quantity::bytes(product(4, elements) + expanded);
}

Product per_head(const Context& c, const CoreAttention& core) {
  return {core.positions, seen(c, core), core.qk_dim, product(c.batch, core.heads)};
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

/// A kernel writes its result as its queries lie; what lies head by head is copied behind it (pytorch aten/src/ATen/
/// native/transformers/cuda/flash_attn/flash_api.cpp, mha_fwd: empty_like; transformers integrations/sdpa_attention.py,
/// the contiguous transposition). Kernels for heads of two widths write by position (cuda/attention.cu,
/// _efficient_attention_forward).
bool copies_output(const Context& c, const CoreAttention& core) {
  if (c.profile.attention.copies_output) return c.batch > 1;
  return c.profile.kernels.transformers_modules && c.shape().writing.rotates_by_head && core.qk_dim == core.v_dim;
}

Value flash_attention(BlockBuilder& b, const CoreAttention& core, const Heads& heads) {
  const auto& [q, k, v] = heads;
  const Context& c = b.context();
  const bool differentiates = q.needs_gradient || k.needs_gradient || v.needs_gradient;
  const Value out = b.value("attention output", q.rows, core.heads * core.v_dim, q.width, differentiates);
  Op op{.kind = OpKind::attention,
        .name = "flash attention",
        .inputs = {q.id, k.id, v.id},
        .outputs = {out.id},
        .saved = {q.id, k.id, v.id, out.id}};
  if (c.profile.attention.keeps_log_sum_exp) {
    const Value sums = b.value("log-sum-exp", product(c.batch, core.positions), core.heads, 4, false);
    if (c.selects_operations) b.keep_through_recompute(sums);
    op.outputs.push_back(sums.id);
    op.saved.push_back(sums.id);
  }
  op.product = per_head(c, core);
  const double square = square_flops(c, core);
  const double share = unmasked_share(c, core);
  op.forward = flops(square * share);
  op.masked = flops(square * (1.0 - share));
  if (differentiates) {
    op.backward_input = flops(2.0 * square * share);
    // The backward kernel computes Q K^T again: five products instead of four (Dao 2023, arXiv:2307.08691 §3.1).
    op.kernel_recompute =
        flops(square * share * static_cast<double>(core.qk_dim) / static_cast<double>(core.qk_dim + core.v_dim));
  }
  if (c.training.fp8_attention) quantize_heads(b, heads, out);
  if (c.profile.kernels.have_workspace) op.workspace_backward = flash_backward_workspace(c, core, q, k);
  if (c.cp > 1 && !c.spreads_heads) pass_round(c, heads, out, op);
  b.append(op);
  if (c.cp > 1 && !c.spreads_heads && c.profile.attention.merges_ring_steps) merge_steps(b, heads, out);
  if (c.selects_operations) b.keep_through_recompute(out);
  if (!copies_output(c, core)) return out;
  return b.rearrange(out, "attention output by position", out.rows, out.columns, OpKind::permutation);
}

/// A learned score a head stands beside the others, whose result is a view of all; the largest of each row is taken
/// away first, which keeps its index (transformers modeling_gpt_oss.py, eager_attention_forward).
Value softmax_with_sinks(BlockBuilder& b, const Value& scores) {
  const Value all = b.value("softmax with sinks", scores.rows, scores.columns + 1, scores.width, scores.needs_gradient);
  const Value largest = b.value("index of the largest score", scores.rows, 1, sizeof(std::int64_t), false);
  b.append({.kind = OpKind::softmax,
            .name = "softmax with sinks",
            .inputs = {scores.id},
            .outputs = {all.id, largest.id},
            .saved = {all.id, largest.id}});
  return all;
}

/// Queries and keys as they are multiplied (transformers modeling_gptj.py, GPTJAttention._attn).
Heads widened(BlockBuilder& b, const Heads& heads) {
  const Context& c = b.context();
  if (!c.profile.kernels.transformers_modules || !c.shape().writing.wide_scores) return heads;
  return {b.cast(heads.q, fp32_width, "queries (fp32)"), b.cast(heads.k, fp32_width, "keys (fp32)"), heads.v};
}

/// torch.max of two tensors keeps both (transformers modeling_xglm.py, XGLMAttention.forward).
Value bounded(BlockBuilder& b, const Value& scores) {
  if (!b.context().profile.kernels.transformers_modules || !b.context().shape().writing.bounds_scores) return scores;
  return b.saved_input(scores, "bounded scores");
}

/// Positions are filled up to whole blocks, and the keys of each block stand beside those of its neighbours (LongT5
/// modeling_longt5.py, LongT5LocalAttention.forward, _split_into_blocks and _concatenate_3_blocks).
Heads in_blocks(BlockBuilder& b, const CoreAttention& core, const Heads& heads) {
  const std::int64_t rows = product(b.context().batch, core.positions);
  const auto copied = [&](const Value& x, std::string_view name, std::int64_t times) {
    return b.rearrange(x, name, times * rows, x.columns, OpKind::permutation);
  };
  return {copied(heads.q, "queries in blocks", 1), copied(heads.k, "keys of three blocks", 3),
          copied(heads.v, "values of three blocks", 3)};
}

/// Chains of tensor operations scale the scores and add the mask before the softmax, and after it cast and drop: two
/// passes each of which reads and writes, backward one for the scale (transformers models/llama/modeling_llama.py,
/// eager_attention_forward; karpathy/nanoGPT model.py, CausalSelfAttention).
Value softmax(BlockBuilder& b, const CoreAttention& core, const Value& scores) {
  const Context& c = b.context();
  if (c.profile.attention.chains_softmax) {
    const quantity::Bytes pass = 2 * b.size(scores.id);
    b.pass_over("scale and mask", 2 * pass, c.differentiates ? pass : quantity::bytes(0));
    b.block().ops.back().eager = true;
  }
  const Value capped = c.shape().writing.caps_scores ? b.capped(scores, "capped scores") : scores;
  const Value seen = bounded(b, capped);
  if (core.sinks && c.profile.kernels.transformers_modules) return softmax_with_sinks(b, scores);
  const bool narrow = c.profile.kernels.transformers_modules && c.shape().writing.narrow_softmax && core.block == 0;
  const std::int64_t width = narrow ? scores.width : c.profile.attention.softmax_in_fp32 ? fp32_width : c.width;
  const Value wide = b.value("softmax", scores.rows, scores.columns, width, scores.needs_gradient);
  b.append({.kind = OpKind::softmax, .name = "softmax", .inputs = {seen.id}, .outputs = {wide.id}, .saved = {wide.id}});
  const std::int64_t handed_on = narrow ? width : c.width;
  return b.dropout(b.cast(wide, handed_on, "probabilities"), "attention dropout");
}

/// inductor makes one kernel of everything between the two products, and one of its gradient. The partitioner never
/// makes again what a product of the backward pass reads, which are the probabilities, nor products, reductions and
/// random numbers; all else follows from the scores and two numbers a row, which are smaller than the fp32 result
/// (pytorch torch/_functorch/partitioners.py, should_ban_recomputation and get_node_weight).
Value compiled_softmax(BlockBuilder& b, const Value& scores) {
  const Context& c = b.context();
  const Value probabilities = b.value("probabilities", scores.rows, scores.columns, c.width, scores.needs_gradient);
  const Value statistics = b.value("maximum and sum", scores.rows, 2, fp32_width, false);
  Op op{.kind = OpKind::softmax,
        .name = "softmax",
        .inputs = {scores.id},
        .outputs = {probabilities.id, statistics.id},
        .saved = {scores.id, statistics.id}};
  if (c.dropout() > 0.0) {
    const Value mask = b.value("dropout mask", scores.rows, scores.columns, 1, false);
    op.outputs.push_back(mask.id);
    op.saved.push_back(mask.id);
  }
  b.append(op);
  return probabilities;
}

/// Scores, softmax, dropout and the weighted sum on a*s^2 tensors.
Value unfused_attention(BlockBuilder& b, const CoreAttention& core, const Heads& heads) {
  const auto [q, k, v] = widened(b, core.block > 0 ? in_blocks(b, core, heads) : heads);
  const Context& c = b.context();
  const std::int64_t rows = product(c.batch, core.heads, core.positions);
  const double square = square_flops(c, core);
  const double share = unmasked_share(c, core);
  const double qk_part = static_cast<double>(core.qk_dim) / static_cast<double>(core.qk_dim + core.v_dim);

  const Value scores = b.value("scores", rows, seen(c, core), q.width, q.needs_gradient);
  Op multiply{
      .kind = OpKind::scores, .name = "scores", .inputs = {q.id, k.id}, .outputs = {scores.id}, .saved = {q.id, k.id}};
  multiply.product = per_head(c, core);
  multiply.forward = flops(square * share * qk_part);
  multiply.masked = flops(square * (1.0 - share) * qk_part);
  if (scores.needs_gradient) multiply.backward_input = flops(2.0 * square * share * qk_part);
  b.append(multiply);

  const bool compiled = c.profile.attention.chains_softmax && c.training.compile;
  const Value probabilities = compiled ? compiled_softmax(b, scores) : softmax(b, core, scores);
  const Value values = b.cast(v, std::max(v.width, probabilities.width), "values (fp32)");

  const Value out = b.value("attention output", heads.q.rows, core.heads * core.v_dim, v.width, q.needs_gradient);
  Op weigh{.kind = OpKind::scores,
           .name = "weighted sum",
           .inputs = {probabilities.id, values.id},
           .outputs = {out.id},
           .saved = {probabilities.id, values.id}};
  weigh.product = {core.positions, core.v_dim, seen(c, core), product(c.batch, core.heads)};
  weigh.forward = flops(square * share * (1.0 - qk_part));
  weigh.masked = flops(square * (1.0 - share) * (1.0 - qk_part));
  if (out.needs_gradient) weigh.backward_input = flops(2.0 * square * share * (1.0 - qk_part));
  if (c.cp > 1 && !c.spreads_heads) pass_round(c, heads, out, weigh);
  b.append(weigh);
  return out;
}

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
  const Value out = fuses_attention(c) ? flash_attention(b, core, heads) : unfused_attention(b, core, heads);
  return c.spreads_heads ? exchange_heads(b, out) : out;
}

}  // namespace llmcalc::layers
