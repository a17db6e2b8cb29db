#include "layers/inner/builder.hpp"

#include "layers/widths.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::layers {

using quantity::bytes;
using quantity::product;

namespace {

/// PyTorch's own kernels on each element by itself are as fast as others: of tensors of 8 GiB on H100 SXM they move
/// 32 bytes an element at 0.92 of the memory bandwidth (Liger-Kernel benchmark/data/all_benchmark_data.csv of release
/// 0.7.0, tvd, torch, forward).
bool is_elementwise(OpKind kind) {
  return kind == OpKind::elementwise || kind == OpKind::activation || kind == OpKind::cast;
}

}  // namespace

Value columns_of(Value whole, std::int64_t columns) {
  whole.columns = columns;
  return whole;
}

BlockBuilder::BlockBuilder(const Context& context, Block& block) : context_(context), block_(block) {}

Value BlockBuilder::value(std::string_view name, std::int64_t rows, std::int64_t columns, std::int64_t width,
                          bool needs_gradient) {
  const auto size = bytes(product(rows, columns, width));
  block_.tensors.push_back({name, size, needs_gradient ? size : bytes(0)});
  return {static_cast<TensorId>(block_.tensors.size() - 1), rows, columns, width, needs_gradient};
}

bool BlockBuilder::adds_wide() const { return context_.writes(&spec::Writing::wide_residual); }

Value BlockBuilder::input(std::string_view name, std::int64_t rows, std::int64_t columns, bool needs_gradient) {
  const std::int64_t width = context_.autocast || adds_wide() ? fp32_width : context_.width;
  const Value x = value(name, rows, columns, width, needs_gradient);
  block_.input = x.id;
  return x;
}

WeightId BlockBuilder::weight(const Weight& weight) {
  block_.weights.push_back(weight);
  return static_cast<WeightId>(block_.weights.size() - 1);
}

WeightId BlockBuilder::table(Role role, std::int64_t rows, std::int64_t columns, bool cut) {
  Weight w{.role = role, .name = spec::label_of(role)};
  w.whole = w.active = quantity::product(rows, columns);
  w.rows = cut ? rows / context_.tp : rows;
  w.columns = columns;
  w.elements = quantity::product(w.rows, columns);
  w.dtype = context_.other_type;
  w.trainable = context_.trains_base;
  w.table = true;
  w.split = cut ? Split::tensor : Split::replicated;
  return weight(trained_whole(w));
}

/// The frozen module stays beside the copy that is trained (peft utils/other.py, ModulesToSaveWrapper.update).
Weight BlockBuilder::trained_whole(Weight w) {
  if (!context_.saves(w.role)) return w;
  weight(w);
  w.adapter = w.trainable = true;
  return w;
}

void BlockBuilder::rest_of(Role role, std::int64_t others, std::int64_t rows, std::int64_t columns) {
  Weight& w = block_.weights[vector(spec::label_of(role), quantity::product(others, rows, columns))];
  w.role = role;
  w.rows = others > 0 ? rows : 0;
  w.columns = columns;
}

WeightId BlockBuilder::vector(std::string_view name, std::int64_t elements, Cut cut) {
  Weight w;
  w.name = name;
  w.whole = w.active = elements;
  w.elements = cut == Cut::columns ? elements / context_.tp : elements;
  w.dtype = context_.other_type;
  w.trainable = context_.trains_base;
  w.split = cut == Cut::columns ? Split::tensor : Split::replicated;
  return weight(w);
}

void BlockBuilder::set_moved_bytes(Op& op) const {
  auto moved = bytes(0);
  auto gradients = bytes(0);
  for (const TensorId id : op.inputs) {
    moved += size(id);
    gradients += block_.tensors[id].gradient;
  }
  for (const TensorId id : op.outputs) {
    moved += size(id);
    gradients += block_.tensors[id].gradient;
  }
  auto saved = bytes(0);
  for (const TensorId id : op.saved) saved += size(id);
  op.moved_forward = moved;
  op.moved_backward = op.passes_gradient ? bytes(0) : gradients + saved;
}

std::uint8_t BlockBuilder::open_recompute_group(std::initializer_list<Value> inputs) {
  for (const Value& x : inputs) checkpoint_inputs_.push_back(x.id);
  return recompute_group_ = ++recompute_groups_;
}

Op& BlockBuilder::append(Op op) {
  op.recompute = recompute_group_;
  op.eager = op.eager || (context_.profile.kernels.eager && !is_elementwise(op.kind));
  for (const TensorId id : std::exchange(checkpoint_inputs_, {})) {
    if (std::ranges::find(op.saved, id) == op.saved.end()) op.saved.push_back(id);
  }
  if (!context_.differentiates) op.saved = {};
  set_moved_bytes(op);
  block_.ops.push_back(op);
  return block_.ops.back();
}

Value BlockBuilder::derived(OpKind kind, const Value& x, const Value& y) {
  append({.kind = kind, .name = block_.tensors[y.id].name, .inputs = {x.id}, .outputs = {y.id}});
  return y;
}

Value BlockBuilder::cast(const Value& x, std::int64_t width, std::string_view name) {
  return x.width == width ? x : derived(OpKind::cast, x, value(name, x.rows, x.columns, width, x.needs_gradient));
}

void BlockBuilder::pass_over(std::string_view name, quantity::Bytes forward, quantity::Bytes backward) {
  Op& op = append({.kind = OpKind::elementwise, .name = name});
  op.moved_forward = forward;
  op.moved_backward = backward;
}

namespace {

/// Without a list the attention core is run again (Korthikanti et al. 2022, arXiv:2205.05198 §5; Megatron-LM
/// core/transformer/transformer_config.py, recompute_modules).
bool covers(const Context& c, spec::RecomputeModule module) {
  const auto& recompute = c.training.recompute;
  if (recompute.policy != spec::RecomputePolicy::selective || c.selects_operations) return false;
  if (recompute.modules.empty()) return module == spec::RecomputeModule::core_attn;
  return std::ranges::find(recompute.modules, module) != recompute.modules.end();
}

}  // namespace

Recomputed::Recomputed(BlockBuilder& b, spec::RecomputeModule module, std::initializer_list<Value> inputs)
    : Recomputed(b, covers(b.context(), module), inputs) {}

Recomputed::Recomputed(BlockBuilder& b, bool covered, std::initializer_list<Value> inputs) : b_(b) {
  if (!covered || b.in_recompute_group()) return;
  group_ = b.open_recompute_group(inputs);
  open_ = true;
}

void Recomputed::end() {
  if (open_) b_.close_recompute_group();
  open_ = false;
}

void Recomputed::discard(std::initializer_list<Value> results) {
  end();
  if (group_ == 0) return;
  for (const Value& x : results) b_.block().tensors[x.id].discarded = true;
}

void Recomputed::remake() {
  if (group_ != 0) b_.block().ops.back().remakes.push_back(group_);
}

}  // namespace llmcalc::layers
