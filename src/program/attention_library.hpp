// Which fused attention kernel a framework calls.
#pragma once

#include "llmcalc/program/profile.hpp"

namespace llmcalc::program {

AttentionLibrary attention_library(const spec::Training& training);

}  // namespace llmcalc::program
