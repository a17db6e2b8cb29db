// The parts that blocks are put together from, but for attention.
#pragma once

#include "layers/inner/builder.hpp"

namespace llmcalc::layers {

// The ways a layer transforms each position by itself.

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

/// Layer's own term beside a matrix that it shares with others, made of `x`: two matrices of low rank.
/// \param columns  of all ranks
Value own_term(BlockBuilder& b, Role role, const Value& x, std::int64_t rank, std::int64_t columns);

/// Routed experts, of which each token passes through top_k, and shared experts that every token passes through.
Value mixture_of_experts(BlockBuilder& b, const spec::MoeShape& moe, const Value& x);

/// Routed experts and the dense MLP beside them, each between norms of its own. \param x  ahead of any norm
Value experts_beside_mlp(BlockBuilder& b, const spec::MoeShape& moe, const Value& x);

// The output head and the loss: where the widest tensors of a run are, tokens x vocabulary.

/// Appends the head's matrix product and the loss in the way the run implements it.
void loss(BlockBuilder& b, const Value& x, const Matrix& head);

// Embeddings that each layer has for itself beside the hidden state (Gemma 3n, Gemma 4).

/// Layer's input as a gate on the hidden state lets it through, projected and normed.
Value layer_input(BlockBuilder& b, const Value& x);

/// Layer's input added to `x`, which is itself where layers have none.
Value with_layer_input(BlockBuilder& b, const Value& x);

/// Those of all layers are made at once, of the tokens and of their embeddings `x`, and one tensor holds them until the
/// backward pass of the first layer.
void make_layer_inputs(BlockBuilder& b, const Value& x);
Value layer_embeddings(BlockBuilder& b, const Value& x, std::int64_t rows, std::int64_t columns);

// What methods other than low-rank adapters train beside a frozen model. Under any other method each is the identity.

/// (IA)3: x times a learned vector, one for each expert (Liu et al. 2022, arXiv:2205.05638 section 3.3).
Value rescaled(BlockBuilder& b, const Value& x, std::string_view name, std::int64_t experts = 1);

/// Prefix tuning: learned keys or values in front of a layer's own (Li & Liang 2021, arXiv:2101.00190 section 4).
Value behind_prefix(BlockBuilder& b, const Value& x, std::string_view name);

/// Prompt tuning: learned embeddings in front of a sample's (Lester et al. 2021, arXiv:2104.08691 section 2).
Value behind_prompt(BlockBuilder& b, const Value& x);

/// A bottleneck adapter behind attention or MLP (Houlsby et al. 2019, arXiv:1902.00751 section 2.1).
Value bottleneck(BlockBuilder& b, const Value& x);

}  // namespace llmcalc::layers
