// From work to time: what a run takes at a given utilization.
#pragma once

#include "llmcalc/quantity/quantity.hpp"

#include <cstdint>

namespace llmcalc::timing {

struct RunTime {
  quantity::Seconds step;
  quantity::Seconds total;
};

/// time = model FLOPs / (accelerators * peak * MFU) (Chowdhery et al. 2022, arXiv:2204.02311 appendix B, solved for
/// time). \param per_step  model FLOPs of one optimizer step over all accelerators \param in_total  model FLOPs of the
/// whole run \pre gpus > 0, peak > 0, mfu > 0
RunTime run_time(quantity::Flops per_step, quantity::Flops in_total, std::int64_t gpus, quantity::FlopRate peak,
                 double mfu);

}  // namespace llmcalc::timing
