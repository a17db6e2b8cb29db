// DeepSpeed's engine around a model: what it changes in the profile of the model's own framework.
#pragma once

#include "llmcalc/frameworks/profile.hpp"

namespace llmcalc::frameworks {

/// Sets the engine's gradients and buffers; the operations of the model stay as they are.
void apply_deepspeed(const spec::Training& training, Profile& profile);

}  // namespace llmcalc::frameworks
