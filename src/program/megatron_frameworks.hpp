// Megatron-LM and what grew out of it or beside it.
#pragma once

#include "llmcalc/program/profile.hpp"

namespace llmcalc::program {

Profile megatron_profile(const spec::Training& training, const std::optional<spec::Accelerator>& gpu);

}  // namespace llmcalc::program
