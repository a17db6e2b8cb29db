// Megatron-LM and what grew out of it or beside it.
#pragma once

#include "llmcalc/frameworks/profile.hpp"

namespace llmcalc::frameworks {

Profile megatron_profile(const spec::Training& training, const std::optional<spec::Accelerator>& gpu);

}  // namespace llmcalc::frameworks
