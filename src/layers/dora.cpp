// Weights decomposed into magnitude and direction, as peft computes them (tuners/lora/dora.py,
// DoraLinearLayer.forward).

#include "layers/inner/builder.hpp"
#include "layers/widths.hpp"

namespace llmcalc::layers {

using quantity::bytes;
using quantity::product;

/// The norm of each row of W + B A, of which no gradient is taken (Liu et al. 2024, arXiv:2402.09353 §4.3). B A is made
/// by sending the unit matrix through the adapter, and all is as wide as the adapter's input. Alive at the sum: the
/// unit matrix, B A, the scaled B A, the sum, and W where it is widened or dequantized. Passes over W's elements beside
/// the cast: B A written, scaled, added to W, and the sum read; over the unit matrix: filled, its diagonal, and read.
void BlockBuilder::direction_norm(const Value& x, const Value& y, const Copies& experts) {
  constexpr std::int64_t passes = 1 + 2 + 3 + 1;
  constexpr std::int64_t unit_passes = 2;
  const std::int64_t unit = product(x.columns, x.columns, x.width);
  const std::int64_t matrix = product(x.columns, y.columns, x.width);
  const bool copied = x.width != y.width || context_.dequantizes;
  const std::int64_t copies = copied ? 4 : 3;
  const std::int64_t cast = x.width == y.width ? 0 : product(x.columns, y.columns, x.width + y.width);
  const std::int64_t held = experts.all > 1 ? experts.all / context_.ep : 1;
  const std::int64_t each = unit_passes * unit + passes * matrix + cast;
  pass_over("norm of direction", bytes(product(each, held)), bytes(0));
  block_.ops.back().workspace_forward = bytes(unit + copies * matrix);
  adapter_weight("adapter magnitude", 1, y.columns, experts);
}

/// What the frozen matrix makes of the adapter's input: what it made of its own, unless elements of that are dropped,
/// for which it is widened, kept so, and multiplied again.
Value BlockBuilder::decomposed_base(const Value& in, const Value& y, const Copies& experts) {
  direction_norm(in, y, experts);
  if (context_.training.adapter.dropout == 0.0) return y;
  const Value again = value("frozen product again", y.rows, y.columns, in.width, true);
  Op op{.kind = OpKind::linear, .name = "frozen product again", .inputs = {in.id}, .outputs = {again.id}};
  if (in.width != y.width) {
    const Value copy = value("wide copy of the matrix", in.columns, y.columns, in.width, false);
    op.outputs.push_back(copy.id);
    op.saved.push_back(copy.id);
  }
  op.forward = quantity::flops(2.0 * static_cast<double>(in.rows) * static_cast<double>(in.columns) *
                               static_cast<double>(y.columns));
  op.backward_input = op.forward;
  op.wide = in.width == fp32_width && !context_.autocast;
  if (!op.wide) op.product = {in.rows, y.columns, in.columns, 1};
  append_product(op);
  return again;
}

/// (m / norm - 1) W x + m / norm B A x times its factor. Either product is kept for the gradient of the magnitude,
/// which is written and read once more to be summed over the rows.
Value BlockBuilder::with_magnitude(const Value& base, const Value& adapter) {
  const auto by_magnitude = [&](const Value& x, std::string_view name) {
    const Value y = value(name, x.rows, x.columns, adapter.width, true);
    Op& op = append({.kind = OpKind::elementwise, .name = name, .inputs = {x.id}, .outputs = {y.id}, .saved = {x.id}});
    op.moved_backward += 3 * size(y.id);
    return y;
  };
  const Value scaled_base = by_magnitude(base, "frozen product by magnitude");
  const Value scaled_adapter = by_magnitude(adapter, "adapter by magnitude");
  return add(scaled_base, times_factor(scaled_adapter), "decomposed");
}

}  // namespace llmcalc::layers
