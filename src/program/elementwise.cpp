// Operations on each element by itself, and what autograd keeps for them.

#include "program/builder.hpp"

#include <algorithm>

namespace llmcalc::program {

/// GELU keeps its input; ReLU keeps its result, which the next matrix product keeps anyway; squared ReLU keeps the
/// ReLU that it squares (pytorch tools/autograd/derivatives.yaml: gelu, relu, pow).
Value BlockBuilder::activation(const Value& x, std::string_view name) {
  const auto kind = context_.shape().mlp;
  const Value y = value(name, x.rows, x.columns, x.width, x.needs_gradient);
  Op op{.kind = OpKind::activation, .name = name, .inputs = {x.id}, .outputs = {y.id}};
  op.saved.push_back(kind == spec::Mlp::gelu ? x.id : y.id);
  append(op);
  if (kind != spec::Mlp::squared_relu) return y;
  const Value squared = value("squared", x.rows, x.columns, x.width, x.needs_gradient);
  append({.kind = OpKind::elementwise, .name = "square", .inputs = {y.id}, .outputs = {squared.id}, .saved = {y.id}});
  return squared;
}

Value BlockBuilder::gated(const Value& gate, const Value& up) {
  const Value act = value("activated gate", gate.rows, gate.columns, gate.width, gate.needs_gradient);
  append({.kind = OpKind::activation,
          .name = "activated gate",
          .inputs = {gate.id},
          .outputs = {act.id},
          .saved = {gate.id}});
  return multiply(act, up, "gated product");
}

/// One kernel on both factors keeps them and not what lies between (Liger-Kernel ops/swiglu.py).
Value BlockBuilder::gated_pair(const Value& gate, const Value& up) {
  const Value y = value("gated product", gate.rows, gate.columns, gate.width, gate.needs_gradient);
  append({.kind = OpKind::activation,
          .name = "gated product",
          .inputs = {gate.id, up.id},
          .outputs = {y.id},
          .saved = {gate.id, up.id}});
  return y;
}

/// On the halves of one matrix a chain keeps the activated gate too. It passes over half the matrix so many times:
/// forward 2 to activate and 3 to multiply; backward 6 for both factors, 3 for the gate, 4 to put both gradients
/// together (microsoft/Megatron-DeepSpeed megatron/model/transformer.py, swiglu; one kernel takes 3 and 5).
Value BlockBuilder::gated_halves(const Value& gate_and_up, std::int64_t f) {
  constexpr std::int64_t forward_passes = 5;
  constexpr std::int64_t backward_passes = 13;
  const Value act = value("activated gate", gate_and_up.rows, f, gate_and_up.width, gate_and_up.needs_gradient);
  const Value y = value("gated product", gate_and_up.rows, f, gate_and_up.width, gate_and_up.needs_gradient);
  Op& op = append({.kind = OpKind::activation,
                   .name = "gated product",
                   .inputs = {gate_and_up.id},
                   .outputs = {act.id, y.id},
                   .saved = {gate_and_up.id, act.id},
                   .eager = true});
  op.moved_forward = forward_passes * size(y.id);
  if (y.needs_gradient) op.moved_backward = backward_passes * size(y.id);
  return y;
}

/// One kernel on the concatenated matrix keeps that matrix (Megatron-LM core/fusions/fused_bias_swiglu.py).
Value BlockBuilder::gated_fused(const Value& gate_and_up, std::int64_t f) {
  const Value y = value("gated product", gate_and_up.rows, f, gate_and_up.width, gate_and_up.needs_gradient);
  append({.kind = OpKind::activation,
          .name = "gated product",
          .inputs = {gate_and_up.id},
          .outputs = {y.id},
          .saved = {gate_and_up.id}});
  return y;
}

/// Keeps a mask of one byte an element (Korthikanti et al. 2022, arXiv:2205.05198 §4.1). torch.nn.Dropout, everywhere.
Value BlockBuilder::dropout(const Value& x, std::string_view name) {
  if (context_.dropout() == 0.0) return x;
  const Value mask = value("dropout mask", x.rows, x.columns, 1, false);
  const Value y = value(name, x.rows, x.columns, x.width, x.needs_gradient);
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
  if (dropped.id == branch.id || !context_.profile.fuses_dropout_add) return sum;
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

/// Each factor is kept for the other's gradient.
Value BlockBuilder::multiply(const Value& a, const Value& b, std::string_view name) {
  const Value y = value(name, a.rows, a.columns, a.width, a.needs_gradient || b.needs_gradient);
  Op op{.kind = OpKind::elementwise, .name = name, .inputs = {a.id, b.id}, .outputs = {y.id}};
  if (b.needs_gradient) op.saved.push_back(a.id);
  if (a.needs_gradient) op.saved.push_back(b.id);
  append(op);
  return y;
}

Value BlockBuilder::gate_rows(const Value& x, std::string_view name) {
  const Value y = value(name, x.rows, x.columns, x.width, x.needs_gradient);
  append({.kind = OpKind::elementwise, .name = name, .inputs = {x.id}, .outputs = {y.id}, .saved = {x.id}});
  return y;
}

Value BlockBuilder::rearrange(const Value& x, std::string_view name, std::int64_t rows, std::int64_t columns,
                              OpKind kind) {
  const Value y = value(name, rows, columns, x.width, x.needs_gradient);
  append({.kind = kind, .name = name, .inputs = {x.id}, .outputs = {y.id}});
  return y;
}

}  // namespace llmcalc::program
