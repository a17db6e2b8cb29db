// How much of an accelerator's peak training reaches, for questions that have no layout whose time could be walked.
#pragma once

#include "laws/scaling.hpp"
#include "llmcalc/spec/accelerator.hpp"

namespace llmcalc::laws {

/// Half of what the best measured matrix product of that part reaches. Runs that published their MFU lie between 0.47
/// (Llama 3 405B on 16,384 H100, 38 %: Grattafiori et al. 2024, table 4) and 0.65 of it (1T parameters on A100, 56.3 %:
/// Korthikanti et al. 2022, table 5). Parts without a measured product take the median of those that have one.
Usual usual_mfu(const spec::Accelerator& gpu);

}  // namespace llmcalc::laws
