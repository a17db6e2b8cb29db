// What a recurrent layer keeps of each sequence from one step of generation to the next.
#include "layers/inner/attention.hpp"
#include "layers/widths.hpp"

namespace llmcalc::layers {

namespace {

Value state(BlockBuilder& b, std::string_view name, std::int64_t columns, std::int64_t width) {
  const Value x = b.value(name, b.context().batch, columns, width, false);
  b.block().tensors[x.id].kept = Cached::by_sample;
  return x;
}

}  // namespace

void keep_state(BlockBuilder& b, const KeptState& kept) {
  if (b.context().training.method != spec::Method::inference) return;
  const Value matrix = state(b, recurrent_state, kept.matrices, fp32_width);
  const Value inputs = state(b, convolution_state, kept.inputs, b.context().width);
  Op& op =
      b.append({.kind = OpKind::recurrence, .name = "state", .inputs = {matrix.id, inputs.id}, .outputs = {matrix.id}});
  op.saved = {matrix.id, inputs.id};
}

}  // namespace llmcalc::layers
