#include "layers/inner/builder.hpp"
#include "layers/inner/parts.hpp"
#include "layers/widths.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace llmcalc::layers {

namespace {

// Experts that run one after the other, as modules of their own.

/// Loop over so many experts, which makes the tensors from `first` to its end.
struct ExpertLoop {
  TensorId first = no_tensor;
  std::int64_t experts = 1;
};

bool is_saved(const Block& block, TensorId id) {
  return std::ranges::any_of(block.ops,
                             [&](const Op& op) { return std::ranges::find(op.saved, id) != op.saved.end(); });
}

/// Tensors of a loop: those of its last turn lie beside all that autograd keeps; gradients come a turn at a time too.
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

/// True if experts run one after another: as modules of a framework, or as a family's class writes it.
bool loops_over_experts(const Context& c) { return c.profile.experts.run_in_loop || is_written_as_loop(c); }

/// Each expert's results are weighted and added to the tokens that they belong to (transformers modeling_mixtral.py,
/// MixtralSparseMoeBlock.forward; litgpt/model.py, LLaMAMoE.forward). The way back writes each expert's rows into a
/// tensor of all tokens (pytorch tools/autograd/derivatives.yaml, index).
/// \param x         what the experts' rows were taken from
/// \param returned  what all experts made
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

Value shared_products(BlockBuilder& b, const spec::MoeShape& moe, const Value& x) {
  const Recomputed again(b, spec::RecomputeModule::shared_experts, {x});
  return mlp_products(b, {moe.shared_ffn, false}, x);
}

Value shared_experts(BlockBuilder& b, const spec::MoeShape& moe, const Value& x) {
  const Value shared = shared_products(b, moe, x);
  if (!moe.shared_gate) return shared;
  b.linear(x, {Role::shared_expert_gate, x.columns, 1});
  return b.gate_rows(shared, "gated shared expert");
}

/// Input of the router: transformers widens it, and the weight with it, where routers multiply in fp32
/// (modeling_deepseek_v3.py, DeepseekV3TopkRouter.forward).
Value router_input(BlockBuilder& b, const spec::MoeShape& moe, const Value& x) {
  const Context& c = b.context();
  const bool widens = c.writes(&spec::Writing::wide_router);
  if (!widens || x.width == fp32_width) return x;
  const Value wide = b.cast(x, fp32_width, "router input (fp32)");
  const Value weight = b.value("router weight (fp32)", x.columns, moe.experts, fp32_width, false);
  Op& op = b.block().ops.back();
  op.outputs.push_back(weight.id);
  op.moved_forward += b.size(weight.id) + quantity::bytes(quantity::product(c.width, x.columns, moe.experts));
  if (x.needs_gradient) op.saved.push_back(weight.id);
  return wide;
}

/// fp32 probabilities of every expert for every token. LongCat-Flash widens the weight of a linear layer, past its
/// adapters (modeling_longcat_flash.py, LongcatFlashTopkRouter.forward).
Value route(BlockBuilder& b, const spec::MoeShape& moe, const Value& x) {
  const Value in = router_input(b, moe, x);
  Matrix router{Role::router, x.columns, moe.experts, moe.router_bias, Cut::none, 1, 1, Resting::as_tables};
  const auto& writing = b.context().shape().writing;
  if (in.id != x.id && writing.linear_router && writing.loops_over_experts) router.multiplier = Multiplier::tensor;
  const Value logits = b.linear(in, router);
  if (moe.correction_bias) b.vector("router correction bias", moe.experts);
  const Value probabilities = b.value("router probabilities", x.rows, moe.experts, 4, logits.needs_gradient);
  b.append({.kind = OpKind::routing,
            .name = "routing",
            .inputs = {logits.id},
            .outputs = {probabilities.id},
            .saved = {probabilities.id}});
  return probabilities;
}

/// Rows that a rank's experts receive for each row that it sends out. A router that has not learned to balance loads
/// experts at random, so the busiest rank's surplus falls with the root of the experts it averages over; a rank that
/// holds them all receives exactly what it sends. --moe-imbalance states the factor instead.
double overload(const Context& c, const spec::MoeShape& moe) {
  if (c.ep == 1) return 1.0;
  if (c.training.moe_imbalance) return *c.training.moe_imbalance;
  return 1.0 +
         c.profile.measured.router_overload / std::sqrt(static_cast<double>(moe.experts) / static_cast<double>(c.ep));
}

Collective reverse(Collective kind) {
  if (kind == Collective::all_gather) return Collective::reduce_scatter;
  return kind == Collective::reduce_scatter ? Collective::all_gather : kind;
}

/// Rows that change ranks, and their gradients that come back; the network's time is all that it takes.
Value exchange(BlockBuilder& b, const Value& x, std::string_view name, std::int64_t rows, Collective kind) {
  const bool all_to_all = kind == Collective::all_to_all;
  const RankGroup group = all_to_all ? RankGroup::expert : RankGroup::expert_tensor;
  const std::int64_t copies = all_to_all ? b.context().row_copies() : 1;
  const Value y = b.rearrange(x, name, rows, x.columns, OpKind::permutation);
  Op& op = b.block().ops.back();
  const auto size = std::max(b.size(x.id), b.size(y.id));
  op.messages.push_back({kind, group, false, false, size, copies});
  if (x.needs_gradient) op.messages.push_back({reverse(kind), group, true, false, size, copies});
  op.moved_forward = op.moved_backward = quantity::bytes(0);
  return y;
}

/// A router's load is uneven before its balancing loss has worked, which is when memory peaks; the steps after that,
/// whose time is asked for, are balanced unless the imbalance is stated (Fedus et al. 2021, arXiv:2101.03961 section
/// 2.2).
void balance(const Context& c, const spec::MoeShape& moe, Block& block, std::size_t first) {
  if (c.training.moe_imbalance) return;
  const double share = 1.0 / overload(c, moe);
  const auto of = [&](quantity::Bytes size) {
    return quantity::bytes(std::llround(share * static_cast<double>(quantity::in_bytes(size))));
  };
  for (std::size_t i = first; i < block.ops.size(); ++i) {
    Op& op = block.ops[i];
    op.product.m = std::llround(share * static_cast<double>(op.product.m));
    op.moved_forward = of(op.moved_forward);
    op.moved_backward = of(op.moved_backward);
    for (Message message : std::exchange(op.messages, {})) {
      message.size = of(message.size);
      op.messages.push_back(message);
    }
  }
}

/// Rows arrive by rank and are put in the order of the experts, and back. Megatron-LM does so on one rank too.
bool sorts_by_expert(const Context& c, const spec::MoeShape& moe) {
  return moe.experts > c.ep && (c.ep > 1 || c.profile.experts.holds_routed_rows);
}

/// Tokens travel to their experts' ranks and back, in each pass; where an expert's matrices are cut, its ranks gather
/// them all and reduce what they made of them. Megatron-LM's local variables hold the rows that a rank sends, those
/// that it receives and those that it returns until the layer is done, and what the experts made until that is reduced
/// (core/transformer/moe/token_dispatcher.py, MoEAlltoAllTokenDispatcher; moe_layer.py, custom_forward).
struct RoutedRows {
  Value sent;
  Value received;
  Value returning;
};

Value to_experts(BlockBuilder& b, const spec::MoeShape& moe, RoutedRows& rows, double overload) {
  const Context& c = b.context();
  const auto arriving = static_cast<std::int64_t>(std::ceil(static_cast<double>(rows.sent.rows) * overload));
  Value x = rows.sent;
  if (c.ep > 1) x = exchange(b, x, "received tokens", arriving, Collective::all_to_all);
  rows.received = x;
  if (c.etp > 1) x = exchange(b, x, "gathered tokens", x.rows * c.etp, Collective::all_gather);
  if (sorts_by_expert(c, moe)) x = b.rearrange(x, "tokens by expert", x.rows, x.columns, OpKind::permutation);
  return x;
}

Value from_experts(BlockBuilder& b, const spec::MoeShape& moe, RoutedRows& rows, const Value& processed) {
  const Context& c = b.context();
  Value x = processed;
  if (sorts_by_expert(c, moe)) x = b.rearrange(x, "results by rank", x.rows, x.columns, OpKind::permutation);
  if (c.etp > 1) {
    x = exchange(b, x, "reduced results", x.rows / c.etp, Collective::reduce_scatter);
    if (c.profile.experts.holds_routed_rows) b.block().ops.back().held.push_back(processed.id);
  }
  rows.returning = x;
  return c.ep > 1 ? exchange(b, x, "returned results", rows.sent.rows, Collective::all_to_all) : x;
}

/// Every expert computes every token, weighted ahead of it: the copies that are weighted and, if experts are trained,
/// the weighted ones are kept (transformers modeling_llama4.py, Llama4TextMoe.forward).
Value all_experts(BlockBuilder& b, const spec::MoeShape& moe, const Value& x) {
  route(b, moe, x);
  const std::int64_t rows = quantity::product(x.rows, moe.experts);
  const Value copies = b.rearrange(x, "tokens for every expert", rows, x.columns, OpKind::permutation);
  const Value weighted = b.gate_rows(copies, "weighted tokens");
  const Value results = mlp_products(b, {moe.expert_ffn, moe.expert_bias, moe.experts, moe.experts}, weighted);
  return b.rearrange(results, "sum over experts", x.rows, x.columns, OpKind::permutation);
}

/// Experts may read and write rows narrower than the model's, and only those travel (transformers
/// modeling_nemotron_h.py, NemotronHMoE.forward).
Value narrowed(BlockBuilder& b, const spec::MoeShape& moe, const Value& x) {
  return moe.expert_width == 0 ? x : b.linear(x, {Role::experts_in, x.columns, moe.expert_width});
}
Value widened(BlockBuilder& b, const spec::MoeShape& moe, const Value& combined, std::int64_t columns) {
  return moe.expert_width == 0 ? combined : b.linear(combined, {Role::experts_out, moe.expert_width, columns});
}

/// Ahead of a grouped product and behind it, beyond what "sent tokens" and "combine" move (transformers
/// integrations/moe.py, grouped_mm_experts_forward). Rows past the last expert's are masked, results weighted: passes
/// over rows as wide as a token, masks 4, weighting 2, backward 4 and 4; over rows as the first product makes them, a
/// mask 2, backward 2 and 2 to put the gradients of gate and up together.
void mask_and_weigh(BlockBuilder& b, const spec::MoeShape& moe, const Value& sent) {
  constexpr std::int32_t kernels = 5;
  constexpr std::int32_t kernels_backward = 8;
  const std::int64_t made = moe.expert_ffn * (spec::is_gated(b.context().shape().mlp) ? 2 : 1);
  const auto moved = [&](std::int64_t passes, std::int64_t within) {
    return quantity::bytes(quantity::product(passes * sent.columns + within * made, sent.rows, sent.width));
  };
  b.pass_over("mask and weigh rows", moved(6, 2), sent.needs_gradient ? moved(8, 4) : quantity::bytes(0));
  b.block().ops.back().kernels = kernels;
  b.block().ops.back().kernels_backward = kernels_backward;
}

/// Experts' words are sorted, counted and added up, and results gathered back in the order of tokens; the way back of
/// either gather sorts its indices and adds row after row to zeros (the same; pytorch
/// aten/src/ATen/native/cuda/Indexing.cu, index_put_with_sort_kernel): zeros 1, gradient 1, sums 2, of "sent tokens" 2
/// more than that moves. Indexing by a tensor is two calls on the host, as executed (tests/timing/host.csv).
void put_in_order(BlockBuilder& b, const Value& sent) {
  constexpr std::int32_t kernels = 12;
  constexpr std::int32_t calls = 2;
  const auto rows = b.size(sent.id);
  b.pass_over("order of rows", 2 * rows, sent.needs_gradient ? 6 * rows : quantity::bytes(0));
  b.block().ops.back().eager = true;
  b.block().ops.back().kernels = b.block().ops.back().kernels_backward = kernels;
  b.block().ops.back().calls = calls;
}

/// Each rank's experts receive as many rows as its own tokens send out, top_k a token, times the overload.
/// \param seen  by the router
Value routed_experts(BlockBuilder& b, const spec::MoeShape& moe, const Value& seen, const Value& tokens,
                     RoutedRows& rows) {
  const Context& c = b.context();
  const Value probabilities = route(b, moe, seen);
  const Value x = narrowed(b, moe, tokens);
  rows.sent = b.rearrange(x, "sent tokens", quantity::product(x.rows, moe.top_k), x.columns, OpKind::permutation);
  const std::size_t first = b.block().ops.size();
  if (c.profile.experts.one_product) {
    mask_and_weigh(b, moe, rows.sent);
    put_in_order(b, rows.sent);
  }
  const Value dispatched = to_experts(b, moe, rows, overload(c, moe));
  const Value processed = mlp_products(b, {moe.expert_ffn, moe.expert_bias, moe.experts, moe.top_k}, dispatched);
  const Value returned = from_experts(b, moe, rows, processed);
  for (std::size_t i = first; i < b.block().ops.size(); ++i) b.block().ops[i].routed = true;
  balance(c, moe, b.block(), first);

  if (loops_over_experts(c)) {
    return widened(b, moe, added_up(b, x, returned, {rows.sent.id, moe.experts / c.ep}), tokens.columns);
  }

  const Value results =
      c.profile.experts.weighs_results_wide ? b.cast(returned, fp32_width, "results (fp32)") : returned;
  const Value combined = b.value("combined experts", x.rows, x.columns, x.width, results.needs_gradient);
  Op combine{.kind = OpKind::permutation,
             .name = "combine",
             .inputs = {results.id, probabilities.id},
             .outputs = {combined.id}};
  if (c.profile.experts.keeps_outputs) combine.saved.push_back(results.id);
  b.append(combine);
  return widened(b, moe, combined, tokens.columns);
}

/// Routed rows that Megatron-LM's local variables hold are given up when the parts of the layer are put together.
void give_up(BlockBuilder& b, const RoutedRows& rows) {
  if (b.context().profile.experts.holds_routed_rows)
    b.block().ops.back().held = {rows.sent.id, rows.received.id, rows.returning.id};
}

}  // namespace

Value mixture_of_experts(BlockBuilder& b, const spec::MoeShape& moe, const Value& x) {
  const Context& c = b.context();
  const bool holds = c.profile.experts.holds_routed_rows;
  const bool shares = moe.shared_ffn > 0;
  RoutedRows rows;
  const Value ahead = shares && holds ? shared_experts(b, moe, x) : x;
  const bool runs_all = c.writes(&spec::Writing::runs_all_experts) && c.ep == 1;
  Value out = runs_all ? all_experts(b, moe, x) : routed_experts(b, moe, x, x, rows);
  if (shares) out = b.add(out, holds ? ahead : shared_experts(b, moe, x), "routed and shared");
  give_up(b, rows);
  return out;
}

/// The router reads the hidden state through a norm without a weight, times a learned scale and a number; each expert
/// has a scale too (transformers modeling_gemma4.py, Gemma4TextDecoderLayer.forward, Gemma4TextRouter.forward).
Value experts_beside_mlp(BlockBuilder& b, const spec::MoeShape& moe, const Value& x) {
  const Value dense = b.norm(shared_experts(b, moe, b.norm(x, "mlp norm")), "norm behind the mlp");
  const Value scaled = b.scaled(b.unweighted_norm(x, "router norm"), "scaled router input");
  const Value seen = b.rearrange(scaled, "router input", x.rows, x.columns, OpKind::elementwise);
  RoutedRows rows;
  const Value routed = routed_experts(b, moe, seen, b.norm(x, "norm of the experts"), rows);
  b.vector("expert scale", moe.experts);
  const Value out = b.add(dense, b.norm(routed, "norm behind the experts"), "routed and shared");
  give_up(b, rows);
  return out;
}

}  // namespace llmcalc::layers
