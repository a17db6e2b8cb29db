// How the stages of a pipeline work one after the other.
#pragma once

#include "llmcalc/spec/layout.hpp"
#include "timing/stage_time.hpp"

#include <vector>

namespace llmcalc::timing {

struct PipelineTime {
  std::size_t slowest = 0;   ///< stage
  quantity::Seconds bubble;  ///< the slowest stage waits
  quantity::Seconds handing_on;
};

/// \param stages        one micro-batch on each stage
/// \param micro_batches of one step
/// \param hand_over     one activation from a stage to the next
PipelineTime run_pipeline(const std::vector<StageTime>& stages, const spec::Layout& layout, std::int64_t micro_batches,
                          quantity::Seconds hand_over);

}  // namespace llmcalc::timing
