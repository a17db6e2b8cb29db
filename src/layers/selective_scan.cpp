// Mamba: a convolution, and time steps, B and C that depend on the input, in one kernel or one after the other.
#include "layers/inner/recurrence.hpp"
#include "layers/widths.hpp"

namespace llmcalc::layers {

using quantity::product;
using spec::StateShape;

namespace {

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

/// Of each chunk two numbers a channel and element of state.
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

/// What goes through norms of its own, in the order in which it lies.
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

}  // namespace

/// Projections in and out, a convolution, and time steps, B and C that depend on the input (transformers
/// modeling_mamba.py, MambaMixer). A rank's channels give their part of what all channels' steps are made of (vLLM
/// model_executor/layers/mamba/mamba_mixer.py).
Value selective_scan(BlockBuilder& b, const StateShape& s, const Value& x) {
  const Value both = b.linear(x, {Role::state_in, x.columns, 2 * s.width, s.bias, Cut::columns});
  if (s.heads > 1 && b.context().profile.kernels.transformers_modules) return scanned_by_heads(b, s, x, both);
  return s.normed_steps ? one_after_the_other(b, s, x, both) : in_one_kernel(b, s, x, both);
}

}  // namespace llmcalc::layers
