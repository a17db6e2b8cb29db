// LLaMA-Factory's files of its version 1 (src/llamafactory/v1/config).
#pragma once

#include "dialects/core/names.hpp"
#include "read/settings.hpp"

namespace llmcalc::dialects {

/// Gives their keys the names that its other files have, and what is not said the defaults of version 1.
void rename_llama_factory_v1(Settings& settings);

}  // namespace llmcalc::dialects
