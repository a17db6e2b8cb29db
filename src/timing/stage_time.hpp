// One pipeline stage: how often each block runs on it, and what its micro-batch takes.
#pragma once

#include "llmcalc/program/program.hpp"
#include "llmcalc/timing/block_time.hpp"

#include <cstdint>
#include <vector>

namespace llmcalc::timing {

/// How often each block of the program runs on one stage.
using BlockCounts = std::vector<std::int64_t>;

BlockCounts blocks_of_stage(const program::Program& program, std::int64_t stage);

struct StageTime {
  PassTime forward;
  PassTime recompute;
  PassTime backward;
  quantity::Seconds weight_gradients;
  quantity::Seconds handed_on;  ///< weights and gradients on their way that no block's work hides

  quantity::Seconds total() const { return forward.total() + recompute.total() + backward.total() + handed_on; }
};

}  // namespace llmcalc::timing
