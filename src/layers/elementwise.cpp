// Operations on each element by itself, and what autograd keeps for them.

#include "layers/inner/builder.hpp"

#include <algorithm>

namespace llmcalc::layers {

/// Keeps a mask of one byte an element (Korthikanti et al. 2022, arXiv:2205.05198 §4.1). torch.nn.Dropout, everywhere.
Value BlockBuilder::dropout(const Value& x, std::string_view name) {
  if (context_.dropout() == 0.0) return x;
  const Value mask = value("dropout mask", x.rows, x.columns, 1, false);
  const Value y = like(x, name);
  append({.kind = OpKind::dropout,
          .name = name,
          .inputs = {x.id},
          .outputs = {y.id, mask.id},
          .saved = {mask.id},
          .eager = !context_.training.compile});
  return y;
}

/// Megatron's kernel does both, so that what lies between is neither written nor read (Megatron-LM
/// core/fusions/fused_bias_dropout.py, bias_dropout_add_fused_train).
Value BlockBuilder::dropout_add(const Value& residual, const Value& branch, std::string_view name) {
  const Value dropped = dropout(branch, name);
  const std::size_t drops = block_.ops.size() - 1;
  const Value sum = add(residual, dropped, "residual");
  if (dropped.id == branch.id || !context_.profile.kernels.fuse_dropout_add) return sum;
  block_.ops[drops].eager = false;
  block_.ops[drops].moved_forward -= size(dropped.id);
  block_.ops.back().moved_forward -= size(dropped.id);
  return sum;
}

Value BlockBuilder::add(const Value& a, const Value& b, std::string_view name) {
  const Value y = value(name, a.rows, a.columns, std::max(a.width, b.width), a.needs_gradient || b.needs_gradient);
  append({.kind = OpKind::elementwise,
          .name = name,
          .inputs = {a.id, b.id},
          .outputs = {y.id},
          .passes_gradient = a.width == b.width});
  return y;
}

/// Each factor is kept for the other's gradient, which PyTorch makes in a kernel of its own: the product's is read
/// twice.
Value BlockBuilder::multiply(const Value& a, const Value& b, std::string_view name) {
  const Value y = value(name, a.rows, a.columns, a.width, a.needs_gradient || b.needs_gradient);
  Op op{.kind = OpKind::elementwise, .name = name, .inputs = {a.id, b.id}, .outputs = {y.id}};
  if (b.needs_gradient) op.saved.push_back(a.id);
  if (a.needs_gradient) op.saved.push_back(b.id);
  Op& appended = append(op);
  if (context_.profile.kernels.eager && a.needs_gradient && b.needs_gradient) appended.moved_backward += size(y.id);
  return y;
}

Value BlockBuilder::gate_rows(const Value& x, std::string_view name) {
  const Value y = like(x, name);
  append({.kind = OpKind::elementwise, .name = name, .inputs = {x.id}, .outputs = {y.id}, .saved = {x.id}});
  return y;
}

void BlockBuilder::keep_for_backward(std::string_view name, std::int64_t rows, std::int64_t columns,
                                     std::int64_t width) {
  if (!context_.differentiates) return;
  const Value x = value(name, rows, columns, width, false);
  append({.kind = OpKind::elementwise, .name = name, .outputs = {x.id}, .saved = {x.id}});
}

Value BlockBuilder::rearrange(const Value& x, std::string_view name, std::int64_t rows, std::int64_t columns,
                              OpKind kind) {
  return derived(kind, x, value(name, rows, columns, x.width, x.needs_gradient));
}

}  // namespace llmcalc::layers
