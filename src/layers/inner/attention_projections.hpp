// The matrices around the core of grouped attention: from the hidden state to queries, keys and values, and back.
#pragma once

#include "layers/inner/attention.hpp"

namespace llmcalc::layers {

/// One matrix in the framework's own model, or in the family's as transformers writes it.
bool fuses_projections(const Context& c, const spec::GroupedAttention& a);

/// One matrix for q, k and v (Megatron), as one stored tensor.
Heads fused_projection(BlockBuilder& b, const spec::GroupedAttention& a, const Value& x);

/// A matrix for each; queries carry their gate behind them, unless that has a matrix of its own.
/// \param memory  that keys and values are made of
Heads separate_projections(BlockBuilder& b, const spec::GroupedAttention& a, const Value& x, const Value& memory);

/// What heads found, put together; or of each group of heads through a bottleneck first (transformers
/// modeling_deepseek_v4.py, DeepseekV4GroupedLinear).
Value outputs(BlockBuilder& b, const spec::GroupedAttention& a, const Value& mixed);

}  // namespace llmcalc::layers
