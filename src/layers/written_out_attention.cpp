#include "layers/inner/attention.hpp"
#include "layers/widths.hpp"

#include <algorithm>

namespace llmcalc::layers {

using quantity::flops;
using quantity::product;

namespace {

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

/// Output of the softmax without sinks, scaled by the share that they leave to it: the sum of exponentials keeps its
/// scores and its result (transformers modeling_granite_swa.py, eager_attention_forward).
Value scaled_by_sinks(BlockBuilder& b, const Value& scores, const Value& out) {
  Value share = b.value("log-sum-exp", scores.rows, 1, scores.width, scores.needs_gradient);
  b.append({.kind = OpKind::softmax,
            .name = "log-sum-exp",
            .inputs = {scores.id},
            .outputs = {share.id},
            .saved = {scores.id, share.id}});
  share = b.saved_result(b.cast(share, fp32_width, "log-sum-exp (fp32)"), "share beside sinks");
  share = b.cast(share, out.width, "share beside sinks (narrow)");
  const Value scaled = b.like(out, "scaled attention output");
  b.append({.kind = OpKind::elementwise,
            .name = "scaled attention output",
            .inputs = {out.id, share.id},
            .outputs = {scaled.id},
            .saved = {out.id, share.id}});
  return scaled;
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

/// Scaled queries, and keys and values of all query heads (pytorch aten/src/ATen/native/transformers/attention.cpp,
/// _scaled_dot_product_attention_math).
Heads expanded_in_fp32(BlockBuilder& b, const CoreAttention& core, const Heads& heads) {
  const auto copied = [&](const Value& x, std::string_view name, std::int64_t head_dim) {
    return b.rearrange(b.cast(x, fp32_width, name), name, x.rows, core.heads * head_dim, OpKind::elementwise);
  };
  return {copied(heads.q, "scaled queries (fp32)", core.qk_dim), copied(heads.k, "expanded keys (fp32)", core.qk_dim),
          copied(heads.v, "expanded values (fp32)", core.v_dim)};
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

Heads operands(BlockBuilder& b, const CoreAttention& core, const Heads& heads) {
  if (core.in_fp32) return expanded_in_fp32(b, core, heads);
  return widened(b, core.block > 0 ? in_blocks(b, core, heads) : heads);
}

/// Chains of tensor operations scale the scores and add the mask before the softmax, and after it cast and drop: two
/// passes each of which reads and writes, backward one for the scale (transformers models/llama/modeling_llama.py,
/// eager_attention_forward; karpathy/nanoGPT model.py, CausalSelfAttention).
Value softmax(BlockBuilder& b, const CoreAttention& core, const Value& scores) {
  const Context& c = b.context();
  if (c.profile.attention.chains_softmax && !core.in_fp32) {
    const quantity::Bytes pass = 2 * b.size(scores.id);
    b.pass_over("scale and mask", 2 * pass, c.differentiates ? pass : quantity::bytes(0));
    b.block().ops.back().eager = true;
  }
  const Value capped = c.shape().writing.caps_scores ? b.capped(scores, "capped scores") : scores;
  const Value seen = bounded(b, capped);
  if (core.sinks && c.profile.kernels.transformers_modules && !c.shape().writing.scales_by_sinks)
    return softmax_with_sinks(b, scores);
  const bool narrow = c.writes(&spec::Writing::narrow_softmax) && core.block == 0;
  const std::int64_t width = narrow ? scores.width : c.profile.attention.softmax_in_fp32 ? fp32_width : c.width;
  const Value wide = b.value("softmax", scores.rows, scores.columns, width, scores.needs_gradient);
  b.append({.kind = OpKind::softmax, .name = "softmax", .inputs = {seen.id}, .outputs = {wide.id}, .saved = {wide.id}});
  const std::int64_t handed_on = narrow || core.in_fp32 ? width : c.width;
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

}  // namespace

Value written_out_attention(BlockBuilder& b, const CoreAttention& core, const Heads& heads) {
  const auto [q, k, v] = operands(b, core, heads);
  const Context& c = b.context();
  const std::int64_t rows = product(c.batch, core.heads, core.positions);
  const double square = square_flops(c, core);
  const double share = unmasked_share(c, core);
  const double qk_part = static_cast<double>(core.qk_dim) / static_cast<double>(core.qk_dim + core.v_dim);

  const Value scores = b.value("scores", rows, seen(c, core), q.width, q.needs_gradient);
  Op multiply{
      .kind = OpKind::scores, .name = "scores", .inputs = {q.id, k.id}, .outputs = {scores.id}, .saved = {q.id, k.id}};
  multiply.wide = core.in_fp32;
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
  weigh.wide = core.in_fp32;
  weigh.product = {core.positions, core.v_dim, seen(c, core), product(c.batch, core.heads)};
  weigh.forward = flops(square * share * (1.0 - qk_part));
  weigh.masked = flops(square * (1.0 - share) * (1.0 - qk_part));
  if (out.needs_gradient) weigh.backward_input = flops(2.0 * square * share * (1.0 - qk_part));
  if (c.cp > 1 && !c.spreads_heads) pass_round(c, heads, out, weigh);
  b.append(weigh);
  const bool scales = core.sinks && c.writes(&spec::Writing::scales_by_sinks);
  return scales ? scaled_by_sinks(b, scores, out) : b.cast(out, heads.v.width, "narrow attention output");
}

}  // namespace llmcalc::layers
