// What a family of frameworks can do to spread a run.
#pragma once

#include "llmcalc/spec/layout.hpp"
#include "llmcalc/spec/training.hpp"

#include <span>

namespace llmcalc::search {

/// How a framework shards what is kept for each parameter.
enum class Stack { textbook, torch, megatron };

Stack stack_of(spec::Framework framework);

/// Trains with tensor, pipeline, context or expert parallelism; the others replicate or shard whole layers.
bool splits_models(spec::Framework framework);

/// What a search tries where nobody says.
std::span<const spec::Sharding> shardings_of(spec::Framework framework);
std::span<const spec::Schedule> schedules_of(spec::Framework framework);
std::span<const spec::Offload> offloads_of(spec::Framework framework);

}  // namespace llmcalc::search
