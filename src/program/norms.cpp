// Normalisation, in one kernel or as a chain of tensor operations.

#include "llmcalc/program/widths.hpp"
#include "program/builder.hpp"

namespace llmcalc::program {

using quantity::bytes;
using quantity::product;
using spec::NormForm;

/// A kernel keeps its input and, per row, fp32 statistics: mean and reciprocal deviation, the latter alone for RMSNorm.
Value BlockBuilder::norm(const Value& x, std::string_view name, spec::Norm kind) {
  if (kind == spec::Norm::rmsnorm && !context_.profile.fused_norm) return eager_rms_norm(x, name);
  const NormForm form = context_.profile.transformers_modules ? context_.shape().writing.norm : NormForm::plain;
  if (form == NormForm::chained && !context_.profile.fused_norm) return chained_layer_norm(x, name);
  if (form == NormForm::widened) return norm_between_casts(x, name, kind);
  return norm_kernel(x, name, kind);
}

/// transformers modeling_olmo.py, OlmoLayerNorm.forward: the kernel keeps the fp32 copy of its input.
Value BlockBuilder::norm_between_casts(const Value& x, std::string_view name, spec::Norm kind) {
  return cast(norm_kernel(cast(x, fp32_width, "norm input (fp32)"), "normalised (fp32)", kind), x.width, name);
}

Value BlockBuilder::norm_kernel(const Value& x, std::string_view name, spec::Norm kind) {
  const Value y = value(name, x.rows, x.columns, x.width, x.needs_gradient || context_.trains_base);
  Op op{.kind = OpKind::norm, .name = name, .inputs = {x.id}, .outputs = {y.id}, .saved = {x.id}};
  if (context_.profile.keeps_norm_statistics) {
    const std::int64_t statistics = kind == spec::Norm::rmsnorm ? 1 : 2;
    const Value stats = value("norm statistics", x.rows, statistics, fp32_width, false);
    op.outputs.push_back(stats.id);
    op.saved.push_back(stats.id);
  }
  if (kind != spec::Norm::nonparametric) op.weight = vector("norm", x.columns);
  Op& appended = append(op);
  // A second kernel reads input and gradient again for the weight's (pytorch aten/src/ATen/native/cuda/
  // layer_norm_kernel.cu, GammaBetaBackwardCUDAKernel).
  const bool separate = context_.trains_base && !context_.profile.fuses_small_gradients;
  if (separate) appended.moved_backward += size(x.id) + size(y.id);
  if (kind == spec::Norm::layernorm) vector("norm bias", x.columns);
  if (context_.profile.widens_norm) widen_norm(x);
  return y;
}

/// Forward as backward 2+4 bytes to cast and 4+2 to cast back, in PyTorch's kernels, and 4+4 instead of 2+2 in the
/// norm's own.
void BlockBuilder::widen_norm(const Value& x) {
  const auto both_ways = [&](std::string_view name, std::int64_t bytes_each) {
    const auto moved = bytes(product(bytes_each, x.rows, x.columns));
    pass_over(name, moved, context_.differentiates ? moved : bytes(0));
  };
  both_ways("norm in fp32", 4);
  both_ways("casts around the norm", 12);
  block_.ops.back().eager = true;
}

/// One over the root of the mean square of each row; the square keeps `x`, the root itself.
Value BlockBuilder::reciprocal_root(const Value& x) {
  const Value root = value("reciprocal root", x.rows, 1, fp32_width, x.needs_gradient);
  append({.kind = OpKind::norm,
          .name = "mean square",
          .inputs = {x.id},
          .outputs = {root.id},
          .saved = {x.id, root.id},
          .workspace_forward = size(x.id)});
  return root;
}

/// The product keeps both factors.
Value BlockBuilder::normalised(const Value& x, const Value& root) {
  const Value y = value("normalised (fp32)", x.rows, x.columns, fp32_width, x.needs_gradient);
  append({.kind = OpKind::elementwise,
          .name = "normalise",
          .inputs = {x.id, root.id},
          .outputs = {y.id},
          .saved = {x.id, root.id}});
  return y;
}

/// The weight's product, which keeps its other factor if the weight is trained.
Value BlockBuilder::weighted_norm(const Value& x, std::string_view name) {
  const Value y = value(name, x.rows, x.columns, x.width, x.needs_gradient || context_.trains_base);
  Op weigh{.kind = OpKind::elementwise, .name = name, .inputs = {x.id}, .outputs = {y.id}};
  weigh.weight = vector("norm", x.columns);
  if (context_.trains_base) weigh.saved.push_back(x.id);
  append(weigh);
  return y;
}

/// RMSNorm as transformers writes it (modeling_llama.py, LlamaRMSNorm.forward): up to fp32, square, mean, rsqrt,
/// multiply, back down, times the weight. Kept: the fp32 copy (4 B an element), the reciprocal root (4 B a row) and,
/// if the weight is trained, the normalised copy: 2 B an element, or 4 B where it goes down after the weight only
/// (modeling_gemma.py, GemmaRMSNorm.forward; litgpt/model.py, RMSNorm.forward).
Value BlockBuilder::eager_rms_norm(const Value& x, std::string_view name) {
  const Value wide = cast(x, fp32_width, "norm input (fp32)");
  const Value scaled = normalised(wide, reciprocal_root(wide));
  if (context_.profile.weighs_norm_wide || context_.shape().writing.norm == NormForm::offset) {
    return cast(weighted_norm(scaled, "weighted (fp32)"), x.width, name);
  }
  return weighted_norm(cast(scaled, x.width, "normalised"), name);
}

/// LayerNorm in fp32, an operation at a time: the difference from the mean is made once for its square and once more
/// for the product with the root (transformers modeling_cohere.py, CohereLayerNorm.forward). Kept: both differences
/// (8 B an element), the root (4 B a row) and, if the weight is trained, the normalised copy (4 B an element).
Value BlockBuilder::chained_layer_norm(const Value& x, std::string_view name) {
  const Value wide = cast(x, fp32_width, "norm input (fp32)");
  const Value root = reciprocal_root(each(wide, "difference to square"));
  const Value scaled = normalised(each(wide, "difference"), root);
  return cast(weighted_norm(scaled, "weighted (fp32)"), x.width, name);
}

}  // namespace llmcalc::program
