// What DeepSpeed's engine makes of a program's profile.
#pragma once

#include "frameworks/run.hpp"
#include "llmcalc/frameworks/profile.hpp"

namespace llmcalc::frameworks {

void apply_deepspeed(const Run& run, Profile& profile);

}  // namespace llmcalc::frameworks
