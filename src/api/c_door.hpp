// The interface for other languages, over any surroundings: strings in, JSON out.
#pragma once

#include "api/surroundings.hpp"
#include "llmcalc/llmcalc.h"

namespace llmcalc::api {

/// \pre the argument outlives what is returned
Outside outside_of(const llmcalc_outside* given);

/// What llmcalc_ask does, asked anywhere.
int answer_in_c(const char* verb, const char* question, const Surroundings& around, char** answer) noexcept;

}  // namespace llmcalc::api
