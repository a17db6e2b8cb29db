// Operations on each element by itself, and what autograd keeps for them.
#include "layers/inner/builder.hpp"
#include "layers/widths.hpp"

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

Value BlockBuilder::scaled(const Value& x, std::string_view name) {
  const Value y = like(x, name);
  Op scale{.kind = OpKind::elementwise, .name = name, .inputs = {x.id}, .outputs = {y.id}};
  scale.weight = vector(name, x.columns);
  if (context_.trains_base) scale.saved.push_back(x.id);
  append(scale);
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

// Activations of MLPs and caps on scores, and what autograd keeps for them.

/// Compilers make one kernel of what is written operation by operation.
bool BlockBuilder::writes(bool spec::Writing::*way) const { return context_.writes(way) && !context_.training.compile; }

/// An operation on each element that keeps nothing.
Value BlockBuilder::each(const Value& x, std::string_view name) {
  return rearrange(x, name, x.rows, x.columns, OpKind::elementwise);
}

/// Keeps its result (pytorch tools/autograd/derivatives.yaml, tanh).
Value BlockBuilder::tanh(const Value& x) { return saved_result(x, "tanh"); }

/// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), one operation after the other: the power keeps x, the tanh its
/// result, the last product both of its factors (transformers activations.py, NewGELUActivation.forward). Autocast
/// takes powers in fp32, and so all that follows (pytorch aten/src/ATen/autocast_mode.h: pow). The gradient of a power
/// squares its input, multiplies it by the exponent and then by the gradient (torch/csrc/autograd/FunctionsManual.cpp,
/// pow_backward): 7 passes in three kernels.
Value BlockBuilder::chained_gelu(const Value& x, std::string_view name) {
  constexpr std::int64_t passes = 7;
  constexpr std::int32_t kernels = 3;
  const Value half = each(x, "half");
  const Value cube = saved_input(context_.autocast ? cast(x, fp32_width, "gelu input (fp32)") : x, "cube");
  Op& power = block_.ops.back();
  if (cube.needs_gradient) power.moved_backward = passes * size(cube.id);
  power.kernels_backward = kernels;
  const Value bounded = tanh(each(add(each(cube, "scaled cube"), x, "sum"), "tanh argument"));
  return multiply(each(bounded, "1 + tanh"), half, name);
}

/// An operation on each element that keeps its result, as exp and sigmoid do.
Value BlockBuilder::saved_result(const Value& x, std::string_view name) {
  const Value y = like(x, name);
  append({.kind = OpKind::activation, .name = name, .inputs = {x.id}, .outputs = {y.id}, .saved = {y.id}});
  return y;
}

Value BlockBuilder::saved_input(const Value& x, std::string_view name) {
  const Value y = like(x, name);
  append({.kind = OpKind::activation, .name = name, .inputs = {x.id}, .outputs = {y.id}, .saved = {x.id}});
  return y;
}

/// where(x > 0, a x x + b x, (expm1(min(x, e)) - x) c + b x) with trained a and c: kept are x, a x, the exponential,
/// the mask and, if c is trained, its other factor (transformers activations.py, XIELUActivation._xielu_python).
Value BlockBuilder::chained_xielu(const Value& x, std::string_view name) {
  const Value scaled = each(x, "scaled");
  const Value square = multiply(scaled, x, "square");
  const Value difference = add(saved_result(x, "exponential"), x, "difference");
  const Value negative = each(difference, "negative part");
  if (context_.trains_base) block_.ops.back().saved.push_back(difference.id);
  const Value mask = value("mask of signs", x.rows, x.columns, 1, false);
  const Value y = like(x, name);
  append({.kind = OpKind::activation,
          .name = name,
          .inputs = {square.id, negative.id},
          .outputs = {y.id, mask.id},
          .saved = {mask.id}});
  return y;
}

/// GELU and SiLU keep their input; ReLU keeps its result, which the next matrix product keeps anyway; squared ReLU
/// keeps the ReLU that it squares (pytorch tools/autograd/derivatives.yaml: gelu, silu, relu, pow).
Value BlockBuilder::activation(const Value& x, std::string_view name) {
  const auto kind = context_.shape().mlp;
  if (writes(&spec::Writing::chained_gelu)) return chained_gelu(x, name);
  if (writes(&spec::Writing::xielu)) return chained_xielu(x, name);
  const Value y = like(x, name);
  Op op{.kind = OpKind::activation, .name = name, .inputs = {x.id}, .outputs = {y.id}};
  const bool keeps_result = kind == spec::Mlp::relu || kind == spec::Mlp::squared_relu || kind == spec::Mlp::reglu;
  op.saved.push_back(keeps_result ? y.id : x.id);
  append(op);
  if (kind != spec::Mlp::squared_relu) return y;
  const Value squared = like(x, "squared");
  append({.kind = OpKind::elementwise, .name = "square", .inputs = {y.id}, .outputs = {squared.id}, .saved = {y.id}});
  return squared;
}

Value BlockBuilder::gated(const Value& gate, const Value& up) {
  if (writes(&spec::Writing::chained_gelu)) return multiply(chained_gelu(gate, "activated gate"), up, "gated product");
  const Value act = like(gate, "activated gate");
  append({.kind = OpKind::activation,
          .name = "activated gate",
          .inputs = {gate.id},
          .outputs = {act.id},
          .saved = {context_.shape().mlp == spec::Mlp::reglu ? act.id : gate.id}});
  return multiply(act, up, "gated product");
}

/// One kernel on both factors keeps them and not what lies between (Liger-Kernel ops/swiglu.py).
Value BlockBuilder::gated_pair(const Value& gate, const Value& up) {
  const Value y = like(gate, "gated product");
  append({.kind = OpKind::activation,
          .name = "gated product",
          .inputs = {gate.id, up.id},
          .outputs = {y.id},
          .saved = {gate.id, up.id},
          .gradient_in_place = context_.profile.adapters.in_place && context_.adapter_rank > 0});
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

/// Both factors are clamped, which keeps the projections; of gate sigmoid(a gate) the clamped gate and the sigmoid are
/// kept, and for the last product both of its factors (transformers modeling_gpt_oss.py, GptOssExperts._apply_gate).
Value BlockBuilder::gated_clamped(const Value& gate, const Value& up) {
  const auto clamped = [&](const Value& x, std::string_view name) {
    const Value y = each(x, name);
    block_.ops.back().saved.push_back(x.id);
    return y;
  };
  const Value bounded = clamped(gate, "clamped gate");
  const Value shifted = each(clamped(up, "clamped up"), "up + 1");
  const Value unit = multiply(bounded, saved_result(each(bounded, "scaled gate"), "sigmoid"), "gated unit");
  return multiply(shifted, unit, "gated product");
}

/// Either half is clamped, which keeps it, and both are put together again. Passes over the matrix: forward read and
/// write to clamp and to put together; backward gradient, input and result to clamp, and both gradients put together
/// (Megatron-LM core/fusions/fused_bias_geglu.py, weighted_bias_quick_geglu_impl: chunk, clamp, torch.cat).
Value BlockBuilder::clamped_halves(const Value& gate_and_up) {
  constexpr std::int64_t forward_passes = 4;
  constexpr std::int64_t backward_passes = 5;
  constexpr std::int32_t kernels = 3;
  const Value y = each(gate_and_up, "clamped gate and up");
  Op& op = block_.ops.back();
  op.saved.push_back(gate_and_up.id);
  op.eager = true;
  op.kernels = op.kernels_backward = kernels;
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

/// Division, tanh and product, of which the tanh keeps its result (transformers modeling_gemma2.py,
/// Gemma2Attention.forward and Gemma2ForCausalLM.forward).
Value BlockBuilder::capped(const Value& x, std::string_view name) { return each(tanh(each(x, "scaled down")), name); }

}  // namespace llmcalc::layers
