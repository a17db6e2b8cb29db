#include "llmcalc/timing/run_time.hpp"

namespace llmcalc::timing {

RunTime run_time(quantity::Flops per_step, quantity::Flops in_total, std::int64_t gpus, quantity::FlopRate peak,
                 double mfu) {
  const quantity::FlopRate achieved = static_cast<double>(gpus) * mfu * peak;
  RunTime time;
  time.step = per_step / achieved;
  time.total = in_total / achieved;
  return time;
}

}  // namespace llmcalc::timing
