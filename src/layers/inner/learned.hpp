// What methods other than low-rank adapters train beside a frozen model. Under any other method each is the identity.
#pragma once

#include "layers/inner/builder.hpp"

namespace llmcalc::layers {

/// (IA)3: x times a learned vector, one for each expert (Liu et al. 2022, arXiv:2205.05638 section 3.3).
Value rescaled(BlockBuilder& b, const Value& x, std::string_view name, std::int64_t experts = 1);

/// Prefix tuning: learned keys or values in front of a layer's own (Li & Liang 2021, arXiv:2101.00190 section 4).
Value behind_prefix(BlockBuilder& b, const Value& x, std::string_view name);

/// Prompt tuning: learned embeddings in front of a sample's (Lester et al. 2021, arXiv:2104.08691 section 2).
Value behind_prompt(BlockBuilder& b, const Value& x);

/// A bottleneck adapter behind attention or MLP (Houlsby et al. 2019, arXiv:1902.00751 section 2.1).
Value bottleneck(BlockBuilder& b, const Value& x);

}  // namespace llmcalc::layers
