// Layers that carry a state along the sequence behind a convolution: what they share, and a gated convolution alone.
#include "layers/inner/attention.hpp"
#include "layers/inner/recurrence.hpp"
#include "layers/widths.hpp"

namespace llmcalc::layers {

using quantity::product;
using spec::StateForm;
using spec::StateShape;

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

// Mamba: a convolution, and time steps, B and C that depend on the input, in one kernel or one after the other.

constexpr std::string_view scan_name = "selective scan";
/// For a channel and element of state: Gu & Dao 2023, arXiv:2312.00752, appendix D.
constexpr double flops_a_state = 9.0;
/// Between two states that the kernel keeps (mamba_ssm 2.3.2 csrc/selective_scan/selective_scan.cpp, n_chunks).
constexpr std::int64_t chunk = 2048;

/// The decays and their exponential, in fp32, of which a family's class keeps both.
void decays(BlockBuilder& b, const StateShape& s, std::int64_t rank_width) {
  b.vector("decays", product(s.width, s.state), Cut::columns);
  b.vector("skip", s.width, Cut::columns);
  b.keep_for_backward("decays (fp32)", 2 * rank_width, s.state, fp32_width);
  b.keep_for_backward("skip and time step bias (fp32)", 2, rank_width, fp32_width);
}

/// States of the chunks: two numbers a channel and element of state each.
void keep_states(BlockBuilder& b, const StateShape& rank, const Value& x) {
  const std::int64_t samples = b.context().batch;
  const std::int64_t chunks = quantity::ceil_divide(quantity::ceil_divide(x.rows, samples), chunk);
  b.keep_for_backward("states between chunks", product(samples, chunks, rank.width), 2 * rank.state, fp32_width);
}

void keep(BlockBuilder& b, const StateShape& rank) {
  keep_state(b, {product(rank.width, rank.state), product(rank.width, rank.conv_kernel - 1)});
}

/// One kernel has all of the layer but the projection in. It keeps a copy of that by channel, what the time steps are
/// made of, B and C, and its result before the gate (mamba_ssm 2.3.2 ops/selective_scan_interface.py, MambaInnerFn).
Value in_one_kernel(BlockBuilder& b, const StateShape& s, const Value& x, const Value& both) {
  const StateShape rank = share_of(s, b.context().tp);
  const Value in = copied(b, both, "x and z by channel", both.columns);
  const Value conv = convolved(b, {s.width, s.conv_kernel, s.conv_bias}, columns_of(in, rank.width));
  const std::int64_t width = s.step_rank + 2 * s.state;
  Matrix parameters_of{Role::state_parameters, s.width, width, false, Cut::rows};
  parameters_of.multiplier = Multiplier::kernel;
  const Value parameters = b.linear(conv, parameters_of);
  Matrix steps_of{Role::state_steps, s.step_rank, s.width, true, Cut::columns};
  steps_of.multiplier = Multiplier::kernel_twice;
  const Value steps = b.linear(columns_of(parameters, s.step_rank), steps_of);
  const Value b_and_c = copied(b, parameters, "B and C", 2 * s.state);
  decays(b, s, rank.width);
  keep_states(b, rank, x);
  keep(b, rank);
  const Value out = scanned(
      b, rank,
      {scan_name, flops_a_state, conv, {steps.id, in.id, b_and_c.id}, {in.id, parameters.id, b_and_c.id}, true});
  Matrix last{Role::state_out, s.width, x.columns, s.bias, Cut::rows};
  last.multiplier = Multiplier::kernel;
  return b.linear(out, last);
}

/// Parameters that go through norms of their own, in the order in which they lie.
Value normed_parameters(BlockBuilder& b, const StateShape& s, const Value& parameters) {
  const Value steps = b.norm(columns_of(parameters, s.step_rank), "time step norm");
  b.norm(columns_of(parameters, s.state), "B norm");
  b.norm(columns_of(parameters, s.state), "C norm");
  return steps;
}

/// Jamba's norms stand between: the scan keeps copies by channel of what it reads (SelectiveScanFn; transformers
/// modeling_jamba.py, JambaMambaMixer.forward, which multiplies by the weight of the steps' projection).
Value one_after_the_other(BlockBuilder& b, const StateShape& s, const Value& x, const Value& both) {
  const StateShape rank = share_of(s, b.context().tp);
  const Value conv = convolved(b, {s.width, s.conv_kernel, s.conv_bias}, both);
  const Value parameters =
      b.linear(conv, {Role::state_parameters, s.width, s.step_rank + 2 * s.state, false, Cut::rows});
  Matrix steps_of{Role::state_steps, s.step_rank, s.width, true, Cut::columns};
  steps_of.multiplier = Multiplier::tensor;
  const Value steps = b.linear(normed_parameters(b, s, parameters), steps_of);
  const Value in = copied(b, conv, "x by channel", rank.width);
  const Value gate = copied(b, both, "z by channel", rank.width);
  const Value b_and_c = copied(b, parameters, "B and C", 2 * s.state);
  decays(b, s, rank.width);
  keep_states(b, rank, x);
  keep(b, rank);
  const Value out = scanned(
      b, rank,
      {scan_name, flops_a_state, in, {steps.id, gate.id, b_and_c.id}, {in.id, steps.id, gate.id, b_and_c.id}, true});
  return b.linear(copied(b, out, "gated scan output", out.columns),
                  {Role::state_out, s.width, x.columns, s.bias, Cut::rows});
}

/// A product of each head with its own part of a parameter, which is copied for every sample (transformers
/// modeling_zamba.py, ZambaMambaMixer.forward, x_proj_weight[:, None]).
Value by_heads(BlockBuilder& b, const Value& x, const Matrix& parameter, std::int64_t columns) {
  Value y = b.linear(x, parameter);
  if (x.needs_gradient)
    b.keep_for_backward("parameter of every sample", product(b.context().batch, parameter.rows), parameter.columns,
                        x.width);
  y.columns = columns;
  return b.rearrange(y, parameter.name(), y.rows, columns, OpKind::permutation);
}

/// Zamba's heads scan one after another: each keeps its result and a copy of its gate beside what all heads share.
Value scanned_by_heads(BlockBuilder& b, const StateShape& s, const Value& x, const Value& both) {
  const StateShape rank = share_of(s, b.context().tp);
  const std::int64_t width = s.step_rank + 2 * s.state;
  const Value conv = convolved(b, {s.width, s.conv_kernel, s.conv_bias}, copied(b, both, "x by channel", rank.width));
  const Value in = copied(b, conv, "x of each sample and head", rank.width);
  const Matrix parameters_of{Role::state_head_parameters, s.width, width, false, Cut::rows};
  const Value parameters = by_heads(b, in, parameters_of, product(rank.heads, width));
  const Matrix steps_of{Role::state_head_steps, s.step_rank, s.width, true, Cut::columns};
  const Value steps = by_heads(b, columns_of(parameters, s.step_rank), steps_of, rank.width);
  const Value gate = copied(b, both, "z by channel", rank.width);
  decays(b, s, rank.width);
  keep_states(b, rank, x);
  keep(b, rank);
  const Value out = scanned(b, rank,
                            {scan_name,
                             flops_a_state,
                             conv,
                             {steps.id, gate.id, parameters.id},
                             {conv.id, steps.id, gate.id, parameters.id},
                             true});
  return b.linear(copied(b, out, "results of heads", out.columns),
                  {Role::state_out, s.width, x.columns, s.bias, Cut::rows});
}

// Mamba-2: one projection, one kernel from its result to that of the layer, or nearly.

/// Reads the gate out of the projection. Its kernel keeps of itself one over the root of the mean square, for each row
/// and group (mamba_ssm/ops/triton/layernorm_gated.py, _layer_norm_fwd).
Value gated_norm(BlockBuilder& b, const StateShape& s, std::int64_t groups, const Value& x, const Value& gate) {
  const Value normed = b.like(x, "gated norm");
  const Value roots = b.value("norm statistics", x.rows, groups, fp32_width, false);
  Op op{.kind = OpKind::norm,
        .name = "gated norm",
        .inputs = {x.id, gate.id},
        .outputs = {normed.id, roots.id},
        .saved = {x.id, gate.id, roots.id}};
  op.weight = b.vector("norm", s.width, Cut::columns);
  b.append(op);
  return normed;
}

// What a recurrent layer keeps of each sequence from one step of generation to the next.

Value state(BlockBuilder& b, std::string_view name, Cached kept, std::int64_t columns, std::int64_t width) {
  const Value x = b.value(name, b.context().batch, columns, width, false);
  b.block().tensors[x.id].kept = kept;
  return x;
}

}  // namespace

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

/// Projections in and out, a convolution, and time steps, B and C that depend on the input (transformers
/// modeling_mamba.py, MambaMixer). A rank's channels give their part of what all channels' steps are made of (vLLM
/// model_executor/layers/mamba/mamba_mixer.py).
Value selective_scan(BlockBuilder& b, const StateShape& s, const Value& x) {
  const Value both = b.linear(x, {Role::state_in, x.columns, 2 * s.width, s.bias, Cut::columns});
  if (s.heads > 1 && b.context().profile.kernels.transformers_modules) return scanned_by_heads(b, s, x, both);
  return s.normed_steps ? one_after_the_other(b, s, x, both) : in_one_kernel(b, s, x, both);
}

/// Traffic of the scan between its kernels: the states of the chunks and the products of B and C within them, and x and
/// its gradient that further kernels read (mamba_ssm 2.3.2 ops/triton/ssd_combined.py, _mamba_chunk_scan_combined_fwd:
/// states written and read in fp32 and then in 16 bits, products in fp32; _mamba_chunk_scan_combined_bwd: both made
/// again, gradients of states in fp32, either in 16 bits for three kernels). Chunks are of Megatron-LM core/ssm/
/// mamba_mixer.py, MambaMixer, or of transformers' configurations.
void pass_states_on(BlockBuilder& b, const StateShape& rank, const Value& x) {
  const std::int64_t positions = b.context().profile.kernels.transformers_modules ? 256 : 128;
  const std::int64_t states = product(rank.width, rank.state) / positions;
  const std::int64_t products = product(rank.groups, positions) * fp32_width;
  const std::int64_t channels = rank.width * x.width;
  const auto bytes = [&](std::int64_t a_position) { return quantity::bytes(product(x.rows, a_position)); };
  b.pass_over("states between chunks", bytes(12 * states + 2 * products + channels),
              bytes(34 * states + 6 * products + 8 * channels));
}

/// One projection makes gate, input, B, C and time steps; the scan is products of chunks (Dao & Gu 2024,
/// arXiv:2405.21060 section 6; transformers modeling_mamba2.py, Mamba2Mixer). In training one kernel goes from the
/// projection on: it keeps that and the scan's result, makes the convolution again backward, and in transformers has
/// the projection out within it (mamba_ssm 2.3.2 ops/triton/ssd_combined.py, MambaSplitConv1dScanCombinedFn).
Value duality(BlockBuilder& b, const StateShape& s, const Value& x) {
  constexpr double flops_of_duality = 6.0;  // a state
  const StateShape rank = share_of(s, b.context().tp);
  const std::int64_t conv_width = s.width + 2 * s.groups * s.state;
  const Value all = b.linear(x, {Role::state_in, x.columns, s.width + conv_width + s.heads, s.bias, Cut::columns});
  const std::int64_t rank_width = rank.width + 2 * rank.groups * s.state;
  const Value conv =
      convolved(b, {rank_width * b.context().tp, s.conv_kernel, s.conv_bias}, columns_of(all, rank_width));
  b.vector("time step bias, decays and skip", 3 * s.heads, Cut::columns);
  keep_state(b, {quantity::product(rank.width, s.state), quantity::product(rank_width, s.conv_kernel - 1)});
  Value out = scanned(b, rank, {"state space duality", flops_of_duality, conv, {all.id}, {all.id}, true});
  if (b.context().differentiates) pass_states_on(b, rank, x);
  if (s.norm) out = gated_norm(b, s, rank.groups, out, all);
  Matrix last{Role::state_out, s.width, x.columns, s.bias, Cut::rows};
  if (b.context().profile.kernels.transformers_modules) last.multiplier = Multiplier::kernel;
  return b.linear(out, last);
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

void keep_state(BlockBuilder& b, const KeptState& kept) {
  if (b.context().training.method != spec::Method::inference) return;
  const Value matrix = state(b, "recurrent state", Cached::recurrence, kept.matrices, fp32_width);
  const Value inputs = state(b, "convolution state", Cached::convolution, kept.inputs, b.context().width);
  Op& op =
      b.append({.kind = OpKind::recurrence, .name = "state", .inputs = {matrix.id, inputs.id}, .outputs = {matrix.id}});
  op.saved = {matrix.id, inputs.id};
}

}  // namespace llmcalc::layers
