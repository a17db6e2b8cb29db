// What stands beside the model: adapters, and layers that propose tokens ahead.
#pragma once

#include "serving/engine.hpp"

namespace llmcalc::serving {

/// Low-rank adapters beside every matrix of a stage's layers, resident in 16 bits.
quantity::Bytes adapter_bytes(const spec::Question& rank, const program::Program& program, std::int64_t stage);

/// What proposes tokens, on the last stage: a layer as the model's last with the projection in front of it, or a model
/// of its own. Its keys and values are kept beside those of the model's own layers.
void add_draft(const spec::Question& rank, Deployment& deployment);

}  // namespace llmcalc::serving
