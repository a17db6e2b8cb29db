#include "layers/inner/context_exchange.hpp"
#include "layers/inner/core_attention.hpp"
#include "layers/widths.hpp"

namespace llmcalc::layers {

using quantity::flops;
using quantity::product;

namespace {

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

/// Of truth values, which each layer turns into numbers to add (pytorch
/// aten/src/ATen/native/transformers/attention.cpp, convert_boolean_attn_mask).
void keep_mask(BlockBuilder& b, const CoreAttention& core, const Value& q) {
  b.keep_for_backward("attention mask", q.rows, seen(b.context(), core), q.width);
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

}  // namespace

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
    if (c.selects_operations) b.keep_through_recompute(sums);
    op.outputs.push_back(sums.id);
    op.saved.push_back(sums.id);
  }
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
  if (c.profile.kernels.have_workspace) op.workspace_backward = flash_backward_workspace(c, core, q, k);
  if (c.cp > 1 && !c.spreads_heads) pass_round(c, heads, out, op);
  b.append(op);
  if (c.cp > 1 && !c.spreads_heads && c.profile.attention.merges_ring_steps) merge_steps(b, heads, out);
  if (c.selects_operations) b.keep_through_recompute(out);
  if (!copies_output(c, core)) return out;
  return b.rearrange(out, "attention output by position", out.rows, out.columns, OpKind::permutation);
}

}  // namespace llmcalc::layers
