// One layout after another: what it takes, and whether it is worth keeping.
#include "llmcalc/trust/verdict_kind.hpp"
#include "search/inner/unit_search.hpp"

#include <algorithm>
#include <cmath>
#include <exception>

namespace llmcalc::search {

using quantity::Bytes;
using quantity::Seconds;

/// A size beyond what can be counted fits nowhere.
void UnitSearch::evaluate(std::uint32_t recompute, const Pipeline& pipeline) try {
  question_.training.recompute = space_.recomputes()[recompute];
  if (restricts_policies() && !is_legal(spec::LooksAt::all)) return;
  auto& program = prices_.program(key_of(recompute, pipeline), question_, profile(recompute), prices());
  for (StagePeaks& peaks : peaks_) peaks.clear(pipeline.stages.size());
  times_.clear(pipeline.stages.size());
  PricedPolicy policy{recompute, program};
  for (const Order& order : orders_) compose(policy, pipeline, order);
} catch (const quantity::Overflow&) {
} catch (const std::exception& error) {
  for (std::size_t i = 0; i < orders_.size(); ++i) keeper_->miss(error.what());
}

void UnitSearch::compose(PricedPolicy& policy, const Pipeline& pipeline, const Order& order) try {
  take(order);
  const auto saving = saving_needs(policy, pipeline, order);
  const Bytes memory = std::max(memory_of(policy, pipeline, order), needed(policy.recompute, saving.accelerator));
  if (!fits(memory) || !host_fits(policy, pipeline, order, saving)) return;
  const Seconds step = question_.calibration.time.factor * step_time(policy, pipeline, order);
  if (surely_ends_in_time(step) && keeper_->is_beaten(base_index_, memory, step)) return keeper_->count(0, 1);
  const PlannedRun run = planned(policy.recompute, memory, step);
  if (!is_within_limits(run)) return;
  keeper_->count(0, 1);
  keeper_->take(run);
} catch (const quantity::Overflow&) {
} catch (const std::exception& error) {
  keeper_->miss(error.what());
}

bool UnitSearch::fits(Bytes memory) const {
  if (memory > base_->capacity) return false;
  return !space_.question().strict || trust::excess(question_, memory, base_->capacity) <= 0.0;
}

PlannedRun UnitSearch::planned(std::uint32_t recompute, Bytes memory, Seconds step) const {
  const spec::Training& training = question_.training;
  PlannedRun run;
  run.choice = {base_index_, question_.layout, training.micro_batch, recompute, training.offload, training.cuda_graph};
  run.memory = memory;
  run.step = step;
  run.total = run.step * base_->steps;
  if (base_->clock) run.total = run.total / base_->clock->share(run.step, run.total);
  if (base_->dollars_an_hour) run.cost = *base_->dollars_an_hour * quantity::in_hours(run.total);
  if (base_->power) run.energy = *base_->power * run.total;
  return run;
}

bool UnitSearch::surely_ends_in_time(Seconds step) const {
  const PlanLimits& limits = space_.question().limits;
  return !limits.time && !limits.cost && (!base_->clock || base_->clock->surely_ends(step));
}

bool UnitSearch::is_within_limits(const PlannedRun& run) const {
  const PlanLimits& limits = space_.question().limits;
  const bool ends = std::isfinite(quantity::in_seconds(run.total));
  return ends && !(limits.time && run.total > *limits.time) && !(limits.cost && *run.cost > *limits.cost);
}

}  // namespace llmcalc::search
