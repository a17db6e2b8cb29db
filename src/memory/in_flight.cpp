#include "memory/inner/in_flight.hpp"

#include "llmcalc/spec/question.hpp"

#include <algorithm>

namespace llmcalc::memory {

using quantity::Bytes;
using quantity::bytes;
using quantity::in_bytes;
using quantity::product;

namespace {

/// GPipe runs the whole pipeline forward first, so every stage keeps all m micro-batches, the last one their losses too
/// (Huang et al. 2018, arXiv:1811.06965 section 2.3).
Bytes of_gpipe(const Kept& kept, std::int64_t micro_batches) {
  return bytes(product(in_bytes(kept.total()), micro_batches - 1));
}

/// 1F1B: stage r of p has min(m, p - r) micro-batches in flight (Narayanan et al. 2021, arXiv:2104.04473 section 2.2).
/// Interleaved with v chunks a stage: 2(p - r - 1) + (v - 1)p warm-up chunks and the one that runs (Megatron-LM
/// core/pipeline_parallel/schedules.py, get_pp_rank_microbatches), each 1/v of the stage's layers. The loss of a
/// micro-batch runs backward at once.
Bytes of_one_f_one_b(const Kept& kept, const spec::Layout& layout, std::int64_t micro_batches, std::int64_t stage) {
  const std::int64_t behind = layout.pp - stage - 1;
  const std::int64_t warm_up = layout.vpp == 1 ? behind : 2 * behind + (layout.vpp - 1) * layout.pp;
  const std::int64_t chunks = std::min(micro_batches * layout.vpp, warm_up + 1);
  const std::int64_t others = std::max<std::int64_t>(0, chunks - layout.vpp);
  return bytes(product(in_bytes(kept.layers), others) / layout.vpp);
}

/// ZB-H1 keeps p micro-batches in flight on every stage: p - r as 1F1B does, and r whose weight gradients wait to fill
/// the bubble (Qi et al. 2023, arXiv:2401.10241 section 2.1).
Bytes of_zero_bubble(const Kept& kept, const spec::Layout& layout, std::int64_t micro_batches, std::int64_t stage) {
  const std::int64_t forwarded = std::min(micro_batches, layout.pp - stage);
  const std::int64_t waiting = std::min(micro_batches - forwarded, stage);
  return bytes(product(in_bytes(kept.layers), forwarded - 1) + product(in_bytes(kept.deferred), waiting));
}

}  // namespace

Bytes activations_in_flight(const Kept& kept, const spec::Question& question, std::int64_t stage) {
  const auto& layout = question.layout;
  const std::int64_t micro_batches = question.training.grad_accum;
  if (layout.pp == 1) return bytes(0);
  switch (layout.schedule) {
    case spec::Schedule::gpipe: return of_gpipe(kept, micro_batches);
    case spec::Schedule::zero_bubble: return of_zero_bubble(kept, layout, micro_batches, stage);
    case spec::Schedule::one_f_one_b: return of_one_f_one_b(kept, layout, micro_batches, stage);
  }
  return bytes(0);
}

Bytes left_of(Bytes in_flight, const Kept& kept) {
  const Bytes all = kept.total();
  if (kept.left == bytes(0)) return bytes(0);
  if (kept.left == all) return in_flight;
  const double share = static_cast<double>(in_bytes(kept.left)) / static_cast<double>(in_bytes(all));
  return bytes(static_cast<std::int64_t>(share * static_cast<double>(in_bytes(in_flight))));
}

}  // namespace llmcalc::memory
