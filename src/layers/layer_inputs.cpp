#include "layers/inner/parts.hpp"

namespace llmcalc::layers {

namespace {

/// Each layer's gradient is zeros for all layers around its own, added to those that came before (pytorch torch/csrc/
/// autograd/FunctionsManual.cpp, select_backward).
void gather_gradients(BlockBuilder& b, const Value& own) {
  const Context& c = b.context();
  if (!own.needs_gradient) return;
  const auto all = quantity::product(own.rows, own.columns, c.model.layer_count(), c.width);
  b.block().ops.back().workspace_backward += quantity::bytes(2 * all);
}

/// Where nothing of them is trained, nothing is differentiated either.
void forget(BlockBuilder& b, std::size_t first) {
  for (std::size_t i = first; i < b.block().ops.size(); ++i) b.block().ops[i].saved = {};
}

}  // namespace

/// transformers modeling_gemma4.py, Gemma4TextDecoderLayer.forward, per_layer_input_gate.
Value layer_input(BlockBuilder& b, const Value& x) {
  const Context& c = b.context();
  const std::int64_t width = c.shape().layer_inputs.width;
  const Value gate = b.linear(x, {Role::layer_input_gate, x.columns, width});
  const Value own = b.value("input of the layer", x.rows, width, 0, c.trains_base);
  const Value gated = b.gated(gate, own);
  gather_gradients(b, own);
  const Value projected = b.linear(gated, {Role::layer_input_out, width, x.columns});
  return b.norm(projected, "layer input norm");
}

Value with_layer_input(BlockBuilder& b, const Value& x) {
  return b.context().shape().layer_inputs.width == 0 ? x : b.add(x, layer_input(b, x), "with layer input");
}

Value layer_embeddings(BlockBuilder& b, const Value& x, std::int64_t rows, std::int64_t columns) {
  const Value found = b.value("layer embeddings", x.rows, columns, x.width, b.context().trains_base);
  Op look_up{.kind = OpKind::embedding, .name = "layer embeddings", .outputs = {found.id}};
  look_up.weight = b.table(Role::layer_input_table, rows, columns, true);
  b.append(look_up);
  return found;
}

/// transformers modeling_gemma4.py, Gemma4TextModel.get_per_layer_inputs and project_per_layer_inputs.
void make_layer_inputs(BlockBuilder& b, const Value& x) {
  const Context& c = b.context();
  const auto& inputs = c.shape().layer_inputs;
  if (inputs.width == 0) return;
  const std::size_t first = b.block().ops.size();
  const std::int64_t layers = c.model.layer_count();
  const Value found = layer_embeddings(b, x, inputs.vocab, layers * inputs.width);
  Value projected = b.linear(x, {Role::layer_inputs, x.columns, layers * inputs.width});
  projected.rows *= layers;
  projected.columns = inputs.width;
  Value normed = b.norm(projected, "layer input norm");
  normed.rows = x.rows;
  normed.columns = layers * inputs.width;
  const Value sum = b.add(normed, found, "layer inputs");
  if (!sum.needs_gradient) forget(b, first);
  if (c.differentiates) b.block().ops.back().saved.push_back(sum.id);  // layers read parts of it
}

}  // namespace llmcalc::layers
