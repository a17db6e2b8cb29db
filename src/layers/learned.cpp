#include "layers/inner/parts.hpp"

namespace llmcalc::layers {

using quantity::product;
using spec::Method;

namespace {

/// Appends `positions` learned rows a sample; autograd keeps nothing of a concatenation.
Value behind_learned(BlockBuilder& b, const Value& x, std::string_view name, std::int64_t positions) {
  const std::int64_t rows = x.rows + product(b.context().batch, positions);
  const Value y = b.value(name, rows, x.columns, x.width, true);
  Op op{.kind = OpKind::permutation, .name = name, .inputs = {x.id}, .outputs = {y.id}};
  op.weight = b.adapter_weight(name, positions, x.columns);
  b.append(op);
  return y;
}

}  // namespace

/// The vector's gradient needs what it multiplies (peft tuners/ia3/layer.py, Linear.forward).
Value rescaled(BlockBuilder& b, const Value& x, std::string_view name, std::int64_t experts) {
  if (b.context().training.method != Method::ia3) return x;
  const Value y = b.value(name, x.rows, x.columns, x.width, true);
  Op op{.kind = OpKind::elementwise, .name = name, .inputs = {x.id}, .outputs = {y.id}, .saved = {x.id}};
  op.weight = b.adapter_weight(name, experts, x.columns);
  b.append(op);
  return y;
}

/// peft tuners/prefix_tuning/model.py, PrefixEncoder without projection: 2 x layers x width of the keys a position.
Value behind_prefix(BlockBuilder& b, const Value& x, std::string_view name) {
  return b.context().prefix == 0 ? x : behind_learned(b, x, name, b.context().prefix);
}

Value behind_prompt(BlockBuilder& b, const Value& x) {
  return b.context().prompt == 0 ? x : behind_learned(b, x, "learned prompt", b.context().prompt);
}

/// 2hm + h + m parameters, with a residual around them. LLaMA-Adapter, which litgpt means by the word, has prompts
/// instead.
Value bottleneck(BlockBuilder& b, const Value& x) {
  const Context& c = b.context();
  if (c.training.method != Method::adapter || c.profile.adapters.prompt_layers_start > 0) return x;
  const std::int64_t width = c.training.adapter.width;
  const Value low = b.adapter_product(b.adapter_input(x), "adapter down projection", width);
  b.adapter_weight("adapter down bias", 1, width);
  const Value active = b.value("adapter activation", low.rows, width, low.width, true);
  b.append({.kind = OpKind::activation,
            .name = "adapter activation",
            .inputs = {low.id},
            .outputs = {active.id},
            .saved = {low.id}});
  const Value high = b.adapter_product(active, "adapter up projection", x.columns);
  b.adapter_weight("adapter up bias", 1, x.columns);
  return b.add(x, high, "adapted");
}

}  // namespace llmcalc::layers
