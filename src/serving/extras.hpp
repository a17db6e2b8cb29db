// What stands beside the model: adapters, and layers that propose tokens ahead.
#pragma once

#include "llmcalc/serving/engine.hpp"

namespace llmcalc::serving {

/// Low-rank adapters beside every matrix of a stage's layers, resident in 16 bits.
quantity::Bytes adapter_bytes(const spec::Question& rank, const program::Program& program, std::int64_t stage);

/// The weights of what drafts: a layer as the model's last and the projection in front of it.
quantity::Bytes draft_bytes(const spec::Question& rank, const StageWeights& last);

/// A draft keeps keys and values as the model's own layers do, one layer more of the first kind that keeps them.
void add_draft_layer(std::vector<CacheGroup>& groups);

}  // namespace llmcalc::serving
