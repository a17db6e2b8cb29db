// Which fused attention kernel a framework calls.
#pragma once

#include "llmcalc/frameworks/profile.hpp"

namespace llmcalc::frameworks {

AttentionLibrary attention_library(const spec::Training& training);

}  // namespace llmcalc::frameworks
