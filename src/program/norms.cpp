// Normalisation, in one kernel or as a chain of tensor operations.

#include "llmcalc/program/widths.hpp"
#include "program/builder.hpp"

namespace llmcalc::program {

using quantity::bytes;
using quantity::product;

/// A kernel keeps its input and, per row, fp32 statistics: mean and reciprocal deviation, the latter alone for RMSNorm.
Value BlockBuilder::norm(const Value& x, std::string_view name, spec::Norm kind) {
  if (kind == spec::Norm::rmsnorm && !context_.profile.fused_norm) return eager_rms_norm(x, name);
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

/// RMSNorm as transformers writes it (modeling_llama.py, LlamaRMSNorm.forward): up to fp32, square, mean, rsqrt,
/// multiply, back down, times the weight. Kept: the fp32 copy (4 B an element), the reciprocal root (4 B a row) and,
/// if the weight is trained, the normalised copy (2 B an element).
Value BlockBuilder::eager_rms_norm(const Value& x, std::string_view name) {
  const Value wide = cast(x, fp32_width, "norm input (fp32)");
  const Value root = value("reciprocal root", x.rows, 1, fp32_width, x.needs_gradient);
  append({.kind = OpKind::norm,
          .name = "mean square",
          .inputs = {wide.id},
          .outputs = {root.id},
          .saved = {wide.id, root.id},
          .workspace_forward = size(wide.id)});
  const Value scaled = value("normalised (fp32)", x.rows, x.columns, fp32_width, x.needs_gradient);
  append({.kind = OpKind::elementwise,
          .name = "normalise",
          .inputs = {wide.id, root.id},
          .outputs = {scaled.id},
          .saved = {wide.id, root.id}});
  const Value narrow = cast(scaled, x.width, "normalised");
  const Value y = value(name, x.rows, x.columns, x.width, x.needs_gradient || context_.trains_base);
  Op weigh{.kind = OpKind::elementwise, .name = name, .inputs = {narrow.id}, .outputs = {y.id}};
  weigh.weight = vector("norm", x.columns);
  if (context_.trains_base) weigh.saved.push_back(narrow.id);
  append(weigh);
  return y;
}

}  // namespace llmcalc::program
