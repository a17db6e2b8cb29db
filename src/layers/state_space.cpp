// Layers that carry a state along the sequence behind a convolution: Mamba, Mamba-2, RG-LRU, and a gated one alone.
#include "layers/recurrence.hpp"

namespace llmcalc::layers {

using quantity::product;
using spec::StateForm;
using spec::StateShape;

namespace {

/// What a tensor-parallel rank has of a recurrence: its share of the channels and heads, and the groups that those
/// heads read, of which it has at least one (vLLM model_executor/layers/mamba/mamba_utils.py,
/// extra_groups_for_head_shards; Megatron-LM core/ssm/mamba_mixer.py).
StateShape share_of(const StateShape& whole, std::int64_t tp) {
  StateShape share = whole;
  share.width /= tp;
  share.heads /= tp;
  share.groups = whole.groups % tp == 0 ? whole.groups / tp : 1;
  return share;
}

/// A causal depthwise convolution over the positions, `kernel` multiply-adds a channel (causal-conv1d csrc/
/// causal_conv1d.cpp). It keeps its input; the activation behind it is part of the kernel and computed again.
/// \param all  channels of all ranks
Value convolved(BlockBuilder& b, const StateShape& s, const Value& in, std::int64_t all) {
  const std::int64_t channels = all / b.context().tp;
  const Value out = b.value("convolved", in.rows, channels, in.width, in.needs_gradient);
  Op op{.kind = OpKind::convolution,
        .name = "causal convolution",
        .inputs = {in.id},
        .outputs = {out.id},
        .saved = {in.id}};
  op.weight = b.vector("convolution", product(all, s.conv_kernel), Cut::columns);
  op.forward = quantity::flops(2.0 * static_cast<double>(in.rows) * static_cast<double>(channels * s.conv_kernel));
  op.backward_input = op.backward_weight = op.forward;
  b.append(op);
  if (s.conv_bias) b.vector("convolution bias", all, Cut::columns);
  return out;
}

Value view(const Value& whole, std::int64_t columns) {
  Value part = whole;
  part.columns = columns;
  return part;
}

}  // namespace

/// The scan keeps what it reads, not its states, which backward are computed again chunk by chunk (state-spaces/mamba
/// mamba_ssm/ops/selective_scan_interface.py, SelectiveScanFn; ops/triton/ssd_combined.py).
Value scanned(BlockBuilder& b, const StateShape& s, const Scan& scan) {
  const Value out = b.value("scan output", scan.input.rows, s.width, scan.input.width, scan.input.needs_gradient);
  Op op{.kind = OpKind::recurrence,
        .name = scan.name,
        .inputs = {scan.input.id, scan.steps.id, scan.gate.id},
        .outputs = {out.id},
        .saved = {scan.input.id, scan.steps.id, scan.gate.id}};
  const double elements = static_cast<double>(out.rows) * static_cast<double>(product(s.width, s.state));
  op.forward = quantity::flops(scan.flops_a_state * elements);
  op.backward_input = op.forward * 2.0;
  op.kernel_recompute = op.forward;
  b.append(op);
  return out;
}

namespace {

/// Mamba: projections in and out, a convolution, and time steps, B and C that depend on the input (transformers
/// modeling_mamba.py, MambaMixer). A position costs 9 operations a channel and element of state: Gu & Dao 2023,
/// arXiv:2312.00752, appendix D. A rank's channels give their part of what all channels' steps are made of (vLLM
/// model_executor/layers/mamba/mamba_mixer.py).
Value selective_scan(BlockBuilder& b, const StateShape& s, const Value& x) {
  constexpr double flops_a_state = 9.0;
  const StateShape rank = share_of(s, b.context().tp);
  const Value both = b.linear(x, {"in projection", x.columns, 2 * s.width, s.bias, Cut::columns});
  const Value conv = convolved(b, s, view(both, rank.width), s.width);
  const Value parameters = b.linear(conv, {"scan parameters", s.width, s.step_rank + 2 * s.state, false, Cut::rows});
  const Value steps =
      b.linear(view(parameters, s.step_rank), {"time step projection", s.step_rank, s.width, true, Cut::columns});
  b.vector("decays", product(s.width, s.state), Cut::columns);
  b.vector("skip", s.width, Cut::columns);
  keep_state(b, {product(rank.width, s.state), product(rank.width, s.conv_kernel - 1)});
  const Value out = scanned(b, rank, {"selective scan", flops_a_state, conv, steps, both});
  return b.linear(out, {"out projection", s.width, x.columns, s.bias, Cut::rows});
}

/// Mamba-2: one projection makes gate, input, B, C and time steps; the scan is products of chunks (Dao & Gu 2024,
/// arXiv:2405.21060 section 6; transformers modeling_mamba2.py, Mamba2Mixer).
Value duality(BlockBuilder& b, const StateShape& s, const Value& x) {
  constexpr double flops_a_state = 6.0;
  const StateShape rank = share_of(s, b.context().tp);
  const std::int64_t conv_width = s.width + 2 * s.groups * s.state;
  const Value all = b.linear(x, {"in projection", x.columns, s.width + conv_width + s.heads, s.bias, Cut::columns});
  const std::int64_t rank_width = rank.width + 2 * rank.groups * s.state;
  const Value conv = convolved(b, s, view(all, rank_width), rank_width * b.context().tp);
  b.vector("time step bias, decays and skip", 3 * s.heads, Cut::columns);
  keep_state(b, {product(rank.width, s.state), product(rank_width, s.conv_kernel - 1)});
  Value out = scanned(b, rank, {"state space duality", flops_a_state, conv, all, all});
  if (s.norm) {
    const Value normed = b.value("gated norm", out.rows, out.columns, out.width, out.needs_gradient);
    Op op{.kind = OpKind::norm,
          .name = "gated norm",
          .inputs = {out.id, all.id},
          .outputs = {normed.id},
          .saved = {out.id, all.id}};
    op.weight = b.vector("norm", s.width, Cut::columns);
    b.append(op);
    out = normed;
  }
  return b.linear(out, {"out projection", s.width, x.columns, s.bias, Cut::rows});
}

/// RG-LRU between two branches: gates of block-diagonal matrices, one block a head (De et al. 2024, arXiv:2402.19427
/// section 2.4; transformers modeling_recurrent_gemma.py, RecurrentGemmaRecurrentBlock).
Value gated_recurrence(BlockBuilder& b, const StateShape& s, const Value& x) {
  constexpr double flops_a_channel = 6.0;
  const StateShape rank = share_of(s, b.context().tp);
  const std::int64_t block = s.width / s.heads;
  const Value branch = b.activation(b.linear(x, {"y projection", x.columns, s.width, true, Cut::columns}), "y branch");
  const Value in = b.linear(x, {"x projection", x.columns, s.width, true, Cut::columns});
  const Value conv = convolved(b, s, in, s.width);
  Value by_head = conv;
  by_head.rows = product(conv.rows, rank.heads);
  by_head.columns = block;
  const Value gates = b.linear(by_head, {"gates", block, 2 * block});
  const WeightId others = b.vector("gates of other heads", product(rank.heads - 1, 2 * block, block));
  b.block().weights[others].whole = b.block().weights[others].active = product(s.heads - 1, 2 * block, block);
  b.vector("gate biases and decays", 3 * s.width, Cut::columns);
  keep_state(b, {rank.width, product(rank.width, s.conv_kernel - 1)});
  const Value out = scanned(b, rank, {"gated linear recurrence", flops_a_channel, conv, gates, conv});
  return b.linear(b.multiply(out, branch, "gated"), {"out projection", s.width, x.columns, true, Cut::rows});
}

/// transformers modeling_lfm2.py, Lfm2ShortConv: B * x goes through the convolution, and C multiplies what comes out.
Value short_convolution(BlockBuilder& b, const StateShape& s, const Value& x) {
  const Value all = b.linear(x, {"in projection", x.columns, 3 * s.width, s.bias, Cut::columns});
  const std::int64_t width = s.width / b.context().tp;
  const Value in = b.multiply(view(all, width), view(all, width), "gated input");
  const Value conv = convolved(b, s, in, s.width);
  keep_state(b, {0, product(width, s.conv_kernel - 1)});
  const Value out = b.multiply(conv, view(all, width), "gated output");
  return b.linear(out, {"out projection", s.width, x.columns, s.bias, Cut::rows});
}

}  // namespace

Value state_space(BlockBuilder& b, const StateShape& state, const Value& x) {
  switch (state.form) {
    case StateForm::duality:
      return duality(b, state, x);
    case StateForm::gated_recurrence:
      return gated_recurrence(b, state, x);
    case StateForm::short_convolution:
      return short_convolution(b, state, x);
    case StateForm::wkv:
      return wkv(b, state, x);
    case StateForm::matrix_memory:
      return matrix_memory(b, state, x);
    case StateForm::selective_scan:
      break;
  }
  return selective_scan(b, state, x);
}

}  // namespace llmcalc::layers
