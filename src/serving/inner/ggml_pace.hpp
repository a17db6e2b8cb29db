// How fast llama.cpp and what runs on it are: closed forms with a few constants for each kind of memory.
#pragma once

#include "llmcalc/quantity/quantity.hpp"
#include "serving/engine.hpp"

namespace llmcalc::serving {

struct GgmlTimes {
  quantity::Seconds token;   ///< of one sequence, `positions` into it
  quantity::Seconds prompt;  ///< of one prompt alone
};

/// Of the host's memory, as said or as usual.
quantity::Bandwidth host_bandwidth(const spec::Question& question);

/// \param sequences  that decode together
/// \param positions  behind the token
GgmlTimes ggml_times(const Deployment& deployment, double sequences, double positions, double prompt);

}  // namespace llmcalc::serving
