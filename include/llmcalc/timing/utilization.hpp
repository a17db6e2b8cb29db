// How much of an accelerator's peak a training run reaches when nobody says.
#pragma once

#include "llmcalc/spec/accelerator.hpp"

#include <string>

namespace llmcalc::timing {

struct Utilization {
  double mfu = 0.0;  ///< model FLOPs over peak FLOPs
  std::string source;
};

/// Half of what the best measured matrix product of that part reaches. Runs that published their MFU lie between 0.47
/// (Llama 3 405B on 16,384 H100, 38 %: Grattafiori et al. 2024, table 4) and 0.65 of it (1T parameters on A100, 56.3 %:
/// Korthikanti et al. 2022, table 5). Parts without a measured product take the median of those that have one.
Utilization default_utilization(const spec::Accelerator& gpu);

}  // namespace llmcalc::timing
