// The communication buffers of a ZeRO engine (DeepSpeed), which exist whatever the size of the model.
#pragma once

#include "llmcalc/spec/question.hpp"
#include "memory/block_prices.hpp"

namespace llmcalc::memory {

/// Nothing where the framework's profile has no engine or the layout shards nothing.
ZeroBuffers zero_buffers(const program::Program& program, const spec::Question& question,
                         const frameworks::ZeroEngine& engine);

}  // namespace llmcalc::memory
