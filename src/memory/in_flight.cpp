#include "memory/in_flight.hpp"

#include <algorithm>

namespace llmcalc::memory {

/// 1F1B: stage r of p has min(m, p - r) micro-batches in flight (Narayanan et al. 2021, arXiv:2104.04473 §2.2).
/// Interleaved with v chunks a stage: 2(p - r - 1) + (v - 1)p warm-up chunks and the one that runs (Megatron-LM
/// core/pipeline_parallel/schedules.py, get_pp_rank_microbatches), each 1/v of the stage's layers.
quantity::Bytes activations_in_flight(quantity::Bytes layers_kept, const spec::Question& question, std::int64_t stage) {
  const auto& layout = question.layout;
  const std::int64_t micro_batches = question.training.grad_accum;
  const std::int64_t behind = layout.pp - stage - 1;
  const std::int64_t warm_up = layout.vpp == 1 ? behind : 2 * behind + (layout.vpp - 1) * layout.pp;
  const std::int64_t chunks = std::min(micro_batches * layout.vpp, warm_up + 1);
  const std::int64_t others = std::max<std::int64_t>(0, chunks - layout.vpp);
  return quantity::bytes(quantity::product(quantity::in_bytes(layers_kept), others) / layout.vpp);
}

}  // namespace llmcalc::memory
