#include "timing/inner/pipeline.hpp"

#include <algorithm>

namespace llmcalc::timing {

using quantity::seconds;
using quantity::Seconds;

/// The slowest stage sets the pace; the others cost their own time once. Interleaving divides it by the number of
/// virtual stages (Narayanan et al. 2021, arXiv:2104.04473 §2.2.2); ZB-H1 fills it with weight gradients, one behind
/// each of the two passes (Qi et al. 2023, arXiv:2401.10241 table 2: (p - 1)(T_F + T_B - T_W)).
Seconds share_of_bubble(const MicroBatchTime& stage, const spec::Layout& layout) {
  if (layout.schedule != spec::Schedule::zero_bubble) return stage.total / static_cast<double>(layout.vpp);
  return std::max(seconds(0), stage.total - 2.0 * stage.weight_gradients);
}

/// While the pipeline fills and drains each hop is waited for, and between two micro-batches a stage of 1F1B waits for
/// what it sends and receives; interleaved stages send while they work (Megatron-LM core/pipeline_parallel/
/// schedules.py, overlap_p2p_comm).
Seconds handing_on(const spec::Layout& layout, std::int64_t micro_batches, Seconds hand_over) {
  if (layout.pp == 1) return {};
  const auto hops = static_cast<double>(layout.pp - 1);
  const auto between = layout.vpp == 1 ? static_cast<double>(micro_batches - 1) : 0.0;
  return 2.0 * (hops + between) * hand_over;
}

}  // namespace llmcalc::timing
