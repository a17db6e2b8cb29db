// The square of scores between queries and keys, and the two ways to run over it.
#pragma once

#include "layers/inner/attention.hpp"

namespace llmcalc::layers {

/// Positions that a query of these heads may see, masked or not.
std::int64_t seen(const Context& c, const CoreAttention& core);

/// The share of the s x s score square that the mask leaves: (s+1)/(2s) under a causal mask, (w/s)(1 - (w-1)/(2s))
/// under a causal window of w positions, 1 without a mask. Exact counts of unmasked pairs; a learned prefix is seen by
/// all. Of documents packed into a sequence each is a square of its own (flash-attention csrc/flash_attn/flash_api.cpp,
/// mha_varlen_fwd).
double unmasked_share(const Context& c, const CoreAttention& core);

/// Scores and their use: 2*T*s FLOPs a query element and as many a value element (Korthikanti et al. 2022, appendix A).
double square_flops(const Context& c, const CoreAttention& core);

Product per_head(const Context& c, const CoreAttention& core);

/// One kernel, without scores in memory.
Value fused_attention(BlockBuilder& b, const CoreAttention& core, const Heads& heads);

/// Scores, softmax, dropout and the weighted sum on a*s^2 tensors.
Value written_out_attention(BlockBuilder& b, const CoreAttention& core, const Heads& heads);

}  // namespace llmcalc::layers
