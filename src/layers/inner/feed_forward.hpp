// The ways a layer transforms each position by itself.
#pragma once

#include "layers/inner/builder.hpp"

namespace llmcalc::layers {

Value feed_forward(BlockBuilder& b, const spec::FeedForward& mlp, const Value& x);

/// The matrices of one MLP, or of `experts` equal ones over rows already sorted by expert.
struct MlpMatrices {
  std::int64_t width = 0;
  bool bias = false;
  std::int64_t experts = 1;
  std::int64_t active_experts = 1;
  std::int64_t low_rank = 0;  ///< of what is added to gate and up projection
  bool sparse_gate = false;
};
Value mlp_products(BlockBuilder& b, const MlpMatrices& mlp, const Value& x);

/// What a layer adds for itself to what a matrix makes of `x` that it shares with others: two matrices of low rank.
/// \param columns  of all ranks
Value own_term(BlockBuilder& b, Role role, const Value& x, std::int64_t rank, std::int64_t columns);

/// Routed experts, of which each token passes through top_k, and shared experts that every token passes through.
Value mixture_of_experts(BlockBuilder& b, const spec::MoeShape& moe, const Value& x);

}  // namespace llmcalc::layers
