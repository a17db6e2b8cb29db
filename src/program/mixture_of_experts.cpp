#include "program/feed_forward.hpp"
#include "program/recomputed.hpp"

#include <cmath>
#include <utility>

namespace llmcalc::program {

namespace {

Value shared_products(BlockBuilder& b, const spec::MoeShape& moe, const Value& x) {
  const Recomputed again(b, spec::RecomputeModule::shared_experts, {x});
  return mlp_products(b, {moe.shared_ffn, false}, x);
}

Value shared_experts(BlockBuilder& b, const spec::MoeShape& moe, const Value& x, const Value& routed) {
  const Value shared = shared_products(b, moe, x);
  if (!moe.shared_gate) return b.add(routed, shared, "routed and shared");
  b.linear(x, {"shared expert gate", x.columns, 1});
  return b.add(routed, b.gate_rows(shared, "gated shared expert"), "routed and shared");
}

/// fp32 probabilities of every expert for every token.
Value route(BlockBuilder& b, const spec::MoeShape& moe, const Value& x) {
  const Value logits =
      b.linear(x, {"router", x.columns, moe.experts, moe.router_bias, Cut::none, 1, 1, Resting::as_tables});
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
  return 1.0 + c.profile.router_overload / std::sqrt(static_cast<double>(moe.experts) / static_cast<double>(c.ep));
}

/// Tokens travel to their experts' ranks and back, in each pass; where an expert's matrices are cut, its ranks gather
/// them all and reduce what they made of them (Megatron-LM core/transformer/moe/token_dispatcher.py,
/// MoEAlltoAllTokenDispatcher).
void travel(const Context& c, Op& op, const Value& rows, bool to_experts) {
  const auto size = quantity::bytes(quantity::product(rows.rows, rows.columns, rows.width));
  for (const bool backward : {false, true}) {
    if (backward && !rows.needs_gradient) return;
    if (c.ep > 1) op.messages.push_back({Collective::all_to_all, Group::expert, backward, false, size, c.row_copies()});
    const Collective kind = to_experts == backward ? Collective::reduce_scatter : Collective::all_gather;
    if (c.etp > 1) op.messages.push_back({kind, Group::expert_tensor, backward, false, size});
  }
}

}  // namespace

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

/// Rows arrive by rank and are put in the order of the experts, and back (the same dispatcher, sort_chunks_by_idxs).
void sort_by_expert(BlockBuilder& b, const spec::MoeShape& moe, const Value& rows) {
  const Context& c = b.context();
  if (c.ep == 1 || moe.experts == c.ep) return;
  constexpr std::int64_t read_and_written = 2;
  const auto there_and_back = 2 * read_and_written * b.size(rows.id);
  b.pass_over("sort by expert", there_and_back, rows.needs_gradient ? there_and_back : quantity::bytes(0));
  b.block().ops.back().kind = OpKind::permutation;
}

/// Each rank's experts receive as many rows as its own tokens send out, top_k a token, times the overload.
Value mixture_of_experts(BlockBuilder& b, const spec::MoeShape& moe, const Value& x) {
  const Context& c = b.context();
  const Value probabilities = route(b, moe, x);
  const auto sent = static_cast<double>(quantity::product(x.rows, c.etp, moe.top_k));
  const auto rows = static_cast<std::int64_t>(std::ceil(sent * overload(c, moe)));
  const std::size_t first = b.block().ops.size();
  const Value dispatched = b.rearrange(x, "dispatched tokens", rows, x.columns, OpKind::permutation);
  travel(c, b.block().ops.back(), dispatched, true);
  sort_by_expert(b, moe, dispatched);
  const Value processed = mlp_products(b, {moe.expert_ffn, moe.expert_bias, moe.experts, moe.top_k}, dispatched);

  const Value combined = b.value("combined experts", x.rows, x.columns, x.width, processed.needs_gradient);
  Op combine{.kind = OpKind::permutation,
             .name = "combine",
             .inputs = {processed.id, probabilities.id},
             .outputs = {combined.id}};
  travel(c, combine, processed, false);
  if (c.profile.keeps_expert_outputs) combine.saved.push_back(processed.id);
  b.append(combine);
  balance(c, moe, b.block(), first);
  return moe.shared_ffn > 0 ? shared_experts(b, moe, x, combined) : combined;
}

}  // namespace llmcalc::program
