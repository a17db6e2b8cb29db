// Layers that carry a state along the sequence behind a convolution: what they share, and a gated convolution alone.
#include "layers/inner/recurrence.hpp"

namespace llmcalc::layers {

using quantity::product;
using spec::StateForm;
using spec::StateShape;

StateShape share_of(const StateShape& whole, std::int64_t tp) {
  StateShape share = whole;
  share.width /= tp;
  share.heads /= tp;
  share.groups = whole.groups % tp == 0 ? whole.groups / tp : 1;
  return share;
}

Value convolved(BlockBuilder& b, const Convolution& convolution, const Value& in) {
  const std::int64_t channels = convolution.channels / b.context().tp;
  const Value out = b.value("convolved", in.rows, channels, in.width, in.needs_gradient);
  Op op{.kind = OpKind::convolution,
        .name = "causal convolution",
        .inputs = {in.id},
        .outputs = {out.id},
        .saved = {in.id}};
  op.weight = b.vector("convolution", product(convolution.channels, convolution.kernel), Cut::columns);
  op.forward = quantity::flops(2.0 * static_cast<double>(in.rows) * static_cast<double>(channels * convolution.kernel));
  op.backward_input = op.backward_weight = op.forward;
  b.append(op);
  if (convolution.bias) b.vector("convolution bias", convolution.channels, Cut::columns);
  return out;
}

Value copied(BlockBuilder& b, const Value& x, std::string_view name, std::int64_t columns) {
  return b.context().differentiates ? b.rearrange(x, name, x.rows, columns, OpKind::permutation)
                                    : columns_of(x, columns);
}

/// The scan keeps what it reads, not its states, which backward are computed again chunk by chunk (state-spaces/mamba
/// mamba_ssm/ops/selective_scan_interface.py, SelectiveScanFn; ops/triton/ssd_combined.py).
Value scanned(BlockBuilder& b, const StateShape& s, const Scan& scan) {
  const Value out = b.value("scan output", scan.input.rows, s.width, scan.input.width, scan.input.needs_gradient);
  Op op{.kind = OpKind::recurrence, .name = scan.name, .inputs = {scan.input.id}, .outputs = {out.id}};
  for (const TensorId id : scan.beside) op.inputs.push_back(id);
  op.saved = scan.saved;
  if (scan.keeps_result) op.saved.push_back(out.id);
  const double elements = static_cast<double>(out.rows) * static_cast<double>(product(s.width, s.state));
  op.forward = quantity::flops(scan.flops_a_state * elements);
  op.backward_input = op.forward * 2.0;
  op.kernel_recompute = op.forward;
  b.append(op);
  return out;
}

namespace {

/// transformers modeling_lfm2.py, Lfm2ShortConv: B * x goes through the convolution, and C multiplies what comes out.
Value short_convolution(BlockBuilder& b, const StateShape& s, const Value& x) {
  const Value all = b.linear(x, {Role::state_in, x.columns, 3 * s.width, s.bias, Cut::columns});
  const std::int64_t width = s.width / b.context().tp;
  const Value in = b.multiply(columns_of(all, width), columns_of(all, width), "gated input");
  const Value conv = convolved(b, {s.width, s.conv_kernel, s.conv_bias}, in);
  keep_state(b, {0, product(width, s.conv_kernel - 1)});
  const Value out = b.multiply(conv, columns_of(all, width), "gated output");
  return b.linear(out, {Role::state_out, s.width, x.columns, s.bias, Cut::rows});
}

}  // namespace

Value state_space(BlockBuilder& b, const StateShape& state, const Value& x) {
  switch (state.form) {
    case StateForm::duality: return duality(b, state, x);
    case StateForm::gated_recurrence: return gated_recurrence(b, state, x);
    case StateForm::short_convolution: return short_convolution(b, state, x);
    case StateForm::wkv: return wkv(b, state, x);
    case StateForm::matrix_memory: return matrix_memory(b, state, x);
    case StateForm::lightning: return lightning(b, state, x);
    case StateForm::selective_scan: break;
  }
  return selective_scan(b, state, x);
}

}  // namespace llmcalc::layers
