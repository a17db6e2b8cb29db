#include "program/feed_forward.hpp"

namespace llmcalc::program {

namespace {

Value shared_experts(BlockBuilder& b, const spec::MoeShape& moe, const Value& x, const Value& routed) {
  const Value shared = mlp_products(b, {moe.shared_ffn, false}, x);
  if (!moe.shared_gate) return b.add(routed, shared, "routed and shared");
  b.linear(x, {"shared expert gate", x.columns, 1});
  return b.add(routed, b.gate_rows(shared, "gated shared expert"), "routed and shared");
}

/// fp32 probabilities of every expert for every token.
Value route(BlockBuilder& b, const spec::MoeShape& moe, const Value& x) {
  const Value logits = b.linear(x, {"router", x.columns, moe.experts, moe.router_bias, Cut::none, 1, 1, Resting::as_tables});
  if (moe.correction_bias) b.vector("router correction bias", moe.experts);
  const Value probabilities = b.value("router probabilities", x.rows, moe.experts, 4, logits.needs_gradient);
  b.append({.kind = OpKind::routing, .name = "routing", .inputs = {logits.id}, .outputs = {probabilities.id},
            .saved = {probabilities.id}});
  return probabilities;
}

}  // namespace

/// Tokens are spread evenly: each rank's experts receive as many rows as its own tokens send out, top_k a token.
Value mixture_of_experts(BlockBuilder& b, const spec::MoeShape& moe, const Value& x) {
  const Context& c = b.context();
  const Value probabilities = route(b, moe, x);
  const std::int64_t rows = quantity::product(x.rows, c.etp, moe.top_k);
  const Value dispatched = b.rearrange(x, "dispatched tokens", rows, x.columns, OpKind::permutation);
  const Value processed = mlp_products(b, {moe.expert_ffn, moe.expert_bias, moe.experts, moe.top_k}, dispatched);

  const Value combined = b.value("combined experts", x.rows, x.columns, x.width, processed.needs_gradient);
  Op combine{.kind = OpKind::permutation, .name = "combine", .inputs = {processed.id, probabilities.id},
             .outputs = {combined.id}};
  if (c.profile.keeps_expert_outputs) combine.saved.push_back(processed.id);
  b.append(combine);
  return moe.shared_ffn > 0 ? shared_experts(b, moe, x, combined) : combined;
}

}  // namespace llmcalc::program
