// What vLLM finds in use beside weights and cache when it sizes the cache: a profile run, and what lies outside
// PyTorch.
#pragma once

#include "serving/engine.hpp"

#include <cstdint>

namespace llmcalc::serving {

/// The peak of the profile run, and what the sampler keeps of every sequence.
/// \param tokens  of a step
void hold_profile(const Deployment& deployment, const Stage& stage, std::int64_t tokens, RankMemory& memory);

/// Workspaces of kernels, NCCL and the custom all-reduce, and the CUDA context where it counts.
void hold_beside_torch(const Deployment& deployment, RankMemory& memory);

/// The CUDA context where it was there before the engine took its first look at what is free, so that it lies outside
/// the engine's share.
quantity::Bytes context_outside(const EngineRelease& release);

}  // namespace llmcalc::serving
