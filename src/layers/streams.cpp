#include "layers/inner/streams.hpp"

#include "layers/widths.hpp"

namespace llmcalc::layers {

using quantity::product;

namespace {

/// How much of each stream there is, as a router says of one of them (transformers modeling_gemma3n.py,
/// Gemma3nTextAltUp.compute_router_modalities).
Value modalities(BlockBuilder& b, const Value& x) {
  const Value normed = b.norm(x, "router norm");
  const Value scaled = b.rearrange(normed, "router input", x.rows, x.columns, OpKind::elementwise);
  const Value routed = b.linear(scaled, {Role::stream_router, x.columns, b.context().shape().streams.count});
  const Value wide = b.saved_result(b.cast(routed, fp32_width, "routed (fp32)"), "tanh");
  return b.cast(wide, x.width, "modalities");
}

/// The same router a second time, whose weights are those of the first.
Value modalities_again(BlockBuilder& b, const Value& x) {
  const std::size_t first = b.block().weights.size();
  const Value result = modalities(b, x);
  for (std::size_t i = first; i < b.block().weights.size(); ++i) {
    b.block().weights[i].tied = b.block().weights[i].shared = true;
  }
  return result;
}

}  // namespace

Value first_stream(BlockBuilder& b, const Value& all) {
  Value first = all;
  first.rows /= b.context().shape().streams.count;
  return first;
}

/// A product of each position's streams with a square of coefficients keeps both; its result is put in the order of the
/// streams (Gemma3nTextAltUp.predict).
Value predicted_streams(BlockBuilder& b, const Value& all) {
  const std::int64_t count = b.context().shape().streams.count;
  const Value active = first_stream(b, all);
  const Value coefficients = b.linear(modalities(b, active), {Role::stream_predictions, count, count * count});
  const Value mixed = b.like(all, "mixed streams");
  Op mix{.kind = OpKind::scores,
         .name = "mixed streams",
         .inputs = {all.id, coefficients.id},
         .outputs = {mixed.id},
         .saved = {all.id, coefficients.id}};
  mix.product = {all.columns, count, count, active.rows};
  mix.forward = quantity::flops(2.0 * static_cast<double>(product(all.rows, all.columns, count)));
  if (mixed.needs_gradient) mix.backward_input = 2.0 * mix.forward;
  b.append(mix);
  return b.rearrange(mixed, "predicted streams", all.rows, all.columns, OpKind::permutation);
}

/// The change of the first stream is repeated for each and kept with its coefficient (Gemma3nTextAltUp.correct, which
/// clamps the weight first, past an adapter).
Value corrected_streams(BlockBuilder& b, const Value& predicted, const Value& activated) {
  const std::int64_t count = b.context().shape().streams.count;
  Matrix corrections{Role::stream_corrections, count, count};
  corrections.multiplier = Multiplier::tensor;
  const Value made = b.linear(modalities_again(b, activated), corrections);
  const Value coefficients = b.rearrange(made, "correction coefficients", made.rows, count, OpKind::elementwise);
  const Value change = b.add(activated, first_stream(b, predicted), "change");
  const Value repeated = b.rearrange(change, "repeated change", predicted.rows, predicted.columns, OpKind::permutation);
  const Value corrected = b.like(predicted, "corrected streams");
  b.append({.kind = OpKind::elementwise,
            .name = "corrected streams",
            .inputs = {repeated.id, coefficients.id, predicted.id},
            .outputs = {corrected.id},
            .saved = {repeated.id, coefficients.id}});
  return corrected;
}

/// transformers modeling_gemma3n.py, Gemma3nTextLaurelBlock.
Value low_rank_residual(BlockBuilder& b, const Value& normed) {
  const std::int64_t rank = b.context().shape().streams.residual_rank;
  const Value low = b.linear(normed, {Role::residual_low_rank, normed.columns, rank});
  const Value made = b.linear(low, {Role::residual_low_rank, rank, normed.columns});
  return b.add(normed, b.norm(made, "residual norm"), "low-rank residual");
}

}  // namespace llmcalc::layers
