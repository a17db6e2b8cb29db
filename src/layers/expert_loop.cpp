#include "layers/inner/expert_loop.hpp"

#include <algorithm>

namespace llmcalc::layers {

namespace {

bool is_saved(const Block& block, TensorId id) {
  return std::ranges::any_of(block.ops,
                             [&](const Op& op) { return std::ranges::find(op.saved, id) != op.saved.end(); });
}

/// Of what a loop makes, the last turn's lies beside all that autograd keeps; gradients come a turn at a time too.
/// \param end  the first tensor behind it
void take_turns(Block& block, const ExpertLoop& loop, TensorId end) {
  const auto share = [&](quantity::Bytes size) {
    return quantity::bytes(quantity::ceil_divide(quantity::in_bytes(size), loop.experts));
  };
  for (TensorId id = loop.first; id < end; ++id) {
    Tensor& tensor = block.tensors[id];
    tensor.gradient = share(tensor.gradient);
    if (!is_saved(block, id)) tensor.size = share(tensor.size);
  }
}

/// True if the family's class has parameters that a loop takes one after another (transformers modeling_dbrx.py,
/// DbrxExperts.forward; modeling_longcat_flash.py, LongcatFlashExperts.forward).
bool is_written_as_loop(const Context& c) { return c.writes(&spec::Writing::loops_over_experts); }

}  // namespace

bool loops_over_experts(const Context& c) { return c.profile.experts.run_in_loop || is_written_as_loop(c); }

Value added_up(BlockBuilder& b, const Value& x, const Value& returned, const ExpertLoop& loop) {
  const Value weighted = b.like(returned, "weighted results");
  b.append({.kind = OpKind::elementwise,
            .name = "weigh results",
            .inputs = {returned.id},
            .outputs = {weighted.id},
            .saved = {returned.id},
            .workspace_backward = x.needs_gradient ? b.size(x.id) : quantity::bytes(0)});
  const Value combined = b.value("combined experts", x.rows, x.columns, x.width, returned.needs_gradient);
  Op add{.kind = OpKind::permutation, .name = "add up", .inputs = {weighted.id}, .outputs = {combined.id}};
  if (b.context().profile.experts.keeps_added_rows || is_written_as_loop(b.context())) add.saved.push_back(weighted.id);
  b.append(add);
  take_turns(b.block(), loop, combined.id);
  return combined;
}

}  // namespace llmcalc::layers
