// A gated delta rule between its projections: what goes in, the rule, the gated norm behind it.
#pragma once

#include "layers/inner/attention.hpp"

namespace llmcalc::layers {

/// Of all ranks.
struct DeltaWidths {
  std::int64_t keys = 0;
  std::int64_t values = 0;
  std::int64_t convolved = 0;
};

/// What projections make for it, on this rank.
struct DeltaInputs {
  Value qkv;
  Value beta;
  Value decay;
  Value gate;
};

/// Forward work of the recurrence: 4*H_v*d_k*d_v multiply-adds a token (Megatron-LM megatron/training/training.py,
/// num_floating_point_operations). The kernel keeps q and k normalised, with one over their norms, a copy of v, the
/// sums of the decays, beta, and for each chunk and head a matrix (flash-linear-attention 0.6.0 ops/gated_delta_rule/
/// chunk.py, ChunkGatedDeltaRuleFunction); with a decay a channel a second one, and the decays (ops/kda/chunk.py,
/// ChunkKDAFunction).
Value delta_rule(BlockBuilder& b, const spec::LinearAttentionShape& n, const Value& conv, const DeltaInputs& in);

/// RMSNorm of each head's result, times a function of the gate.
Value delta_rule_norm(BlockBuilder& b, const spec::LinearAttentionShape& n, const Value& mixed, const Value& gate);

}  // namespace llmcalc::layers
