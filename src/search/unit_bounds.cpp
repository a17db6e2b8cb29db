// What need not be looked at: layouts of which the least memory and the least time are too much together.
#include "llmcalc/quantity/checked.hpp"
#include "search/inner/unit_search.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::search {

using quantity::Bytes;
using quantity::product;
using quantity::Seconds;

namespace {

/// Whether failures move more of a run than its place on the front.
bool follows_total(const PlanQuestion& plan) {
  const auto& limits = plan.limits;
  return limits.time || limits.cost || plan.objective == Objective::cost || plan.objective == Objective::energy;
}

}  // namespace

/// Memory with one micro-batch on a stage, and none of the allocator's blocks larger than it must be: longer ones need
/// more.
Bytes UnitSearch::least_memory(const PricedPolicy& policy, const Pipeline& pipeline) {
  auto& known = cell_->least_allocated[length_ * weight_slot_.size() + policy.recompute][question_.layout.sp];
  if (!known) known = least_allocated(policy, pipeline);
  return needed(policy.recompute, *known);
}

Bytes UnitSearch::least_allocated(const PricedPolicy& policy, const Pipeline& pipeline) {
  const auto defers = [](const Order& order) { return order.schedule == spec::Schedule::zero_bubble; };
  const bool may_defer = std::ranges::any_of(legal_orders(), defers);
  Bytes least = nowhere;
  for (std::size_t deferred = 0; deferred < (may_defer ? 2 : 1); ++deferred) {
    memory::StepRules rules = held().rules[deferred][policy.recompute];
    rules.counts_slack = false;
    const auto& walks = prices_[length_].walks(policy.program, rules).walks;
    const auto walk = stage_walk(policy.recompute, walks, policy.program.program.companions, deferred != 0);
    least_peaks_.clear(pipeline.stages.size());
    for (std::uint32_t list = 0; list < pipeline.stages.size(); ++list) {
      auto& rests = held().rests[policy.recompute];
      least = std::min(least, least_peaks_.least(walk, list, pipeline.stages[list], rests));
    }
  }
  return least;
}

/// Whether all that the cell may still hold is ruled out: a stage has the mean of all work or more of it, and no policy
/// makes less of it than the first, unless several recompute different layers in full.
bool UnitSearch::are_too_slow(const Pipeline& pipeline) {
  const auto ways = space_.recomputes();
  const bool is_least = ways.size() == 1 || ways.front().policy != spec::RecomputePolicy::full;
  if (!space_.question().prunes || !is_least) return false;
  const auto all = static_cast<std::uint32_t>(ways.size());
  question_.training.recompute = ways.front();
  return is_known_as_slow(all) || is_too_slow(all, cell_->least, pipeline);
}

bool UnitSearch::is_known_as_slow(std::uint32_t recompute) const {
  return question_.training.micro_batch <= cell_->slow_up_to[recompute][question_.layout.sp];
}

/// Whether layouts of a policy that need so much memory or more, or of all of them, are ruled out by their work. More
/// sequences at once take no less time, so that what these take is asked of as many longer micro-batches as it rules
/// out.
bool UnitSearch::is_too_slow(std::uint32_t recompute, Bytes memory, const Pipeline& pipeline) {
  if (!space_.question().prunes) return false;
  const spec::Training& training = question_.training;
  const auto from = std::ranges::find(micro_batches_, training.micro_batch);
  const auto end = training.grad_accum == 1
                       ? from + 1
                       : std::ranges::lower_bound(micro_batches_, training.global_batch / question_.layout.dp);
  const std::int64_t longest = *(end - 1);
  for (const bool counts_experts : {false, true}) {
    const Seconds work = least_work_of_long(recompute, pipeline, counts_experts, training.micro_batch);
    if (!is_ruled_out(memory, least_passes(work, training.micro_batch), longest)) continue;
    cell_->slow_up_to[recompute][question_.layout.sp] = longest;
    return true;
  }
  for (const bool counts_experts : {false, true}) {
    const Seconds work = least_work(recompute, pipeline, counts_experts, Length::present);
    if (!is_ruled_out(memory, least_passes(work, *from), *from)) continue;
    for (auto to = end; to != from; to -= (to - from + 1) / 2) {
      if (!is_ruled_out(memory, least_passes(work, *(to - 1)), *(to - 1))) continue;
      cell_->slow_up_to[recompute][question_.layout.sp] = *(to - 1);
      return true;
    }
  }
  return false;
}

/// All passes of a step by the work of one micro-batch on all stages: the slowest stage has the mean of it or more, and
/// waits once for all others (timing/pipeline.cpp).
Seconds UnitSearch::least_passes(Seconds work, std::int64_t micro_batch) const {
  const spec::Layout& layout = question_.layout;
  const auto micro_batches =
      static_cast<double>(question_.training.global_batch) / static_cast<double>(product(layout.dp, micro_batch));
  return (micro_batches + orders_->least_bubble) / static_cast<double>(layout.pp) * work;
}

/// Whether micro-batches of so many sequences are ruled out in steps that take as long as this or longer.
bool UnitSearch::is_ruled_out(Bytes memory, Seconds least_step, std::int64_t micro_batch) {
  const std::int64_t now = std::exchange(question_.training.micro_batch, micro_batch);
  const bool is = is_ruled_out(0, memory, least_step);
  question_.training.micro_batch = now;
  return is;
}

/// The least of a time by how experts are reached. \param time  called with the number of a variant that is taken
template <class Time>
Seconds UnitSearch::least_of_dispatches(Time time) {
  Seconds least = time(0);
  for (std::size_t i = 1; i < variants_.size(); ++i) {
    if (variants_[i].node_dispatch == variants_[i - 1].node_dispatch) continue;
    take_variant(variants_[i]);
    least = std::min(least, time(i));
    take_variant(variants_.front());
  }
  return least;
}

/// Work of one micro-batch on all stages together, at least, in whatever way it runs. Exchanges with experts differ by
/// how they are reached, in programs of their own.
/// \param recompute  a policy, or the number of policies: of all of them
Seconds UnitSearch::least_work(std::uint32_t recompute, const Pipeline& pipeline, bool counts_experts, Length length) {
  const bool of_all = recompute == space_.recomputes().size();
  const auto of_program = [&](std::size_t) {
    PricedProgram& priced = program_of(of_all ? 0 : recompute, pipeline, length);
    if (!priced.all) priced.all = timing::sum_of(priced.program.sequence, priced.times);
    timing::Passes all = *priced.all;
    if (of_all) all.recompute = {};
    if (!counts_experts) all.forward.expert = all.recompute.expert = all.backward.expert = {};
    return timing::least_time(all, hides_);
  };
  return counts_experts ? least_of_dispatches(of_program) : of_program(0);
}

/// Work of a micro-batch by what its sequences take in the longest there can be: none takes less in a shorter one, but
/// for uneven tiles and chunks, a thousandth (tests/search/test_plan_bounds.cpp asks every preset).
Seconds UnitSearch::least_work_of_long(std::uint32_t recompute, const Pipeline& pipeline, bool counts_experts,
                                       std::int64_t sequences) {
  constexpr double even = 0.99;
  spec::Training& training = question_.training;
  const std::int64_t now = std::exchange(training.micro_batch, training.global_batch);
  const Seconds all = least_work(recompute, pipeline, counts_experts, Length::longest);
  training.micro_batch = now;
  return even * static_cast<double>(sequences) / static_cast<double>(training.global_batch) * all;
}

/// The passes and the bubble as if nothing waited for weights, nor for what some variant hides: each only adds.
Seconds UnitSearch::least_step(PricedPolicy& policy, const Pipeline& pipeline, const Order& order) {
  const std::uint32_t list = order.cut->stages[policy.recompute];
  return least_of_dispatches([&](std::size_t variant) {
    const auto& times = least_times_[variant].get(list, [&](timing::PipelineTimes& made) {
      const Stages stages = pipeline.stages[list];
      auto& priced = plain_program(policy.recompute, pipeline);
      timing::least_times(stages, work_of(priced, policy.recompute, list, stages), hides_, question_, made);
    });
    return times.total(question_.layout, question_.training.grad_accum);
  });
}

/// Runs of one base with longer steps take longer in all, and none takes less than without failures.
bool UnitSearch::is_ruled_out(std::uint32_t recompute, Bytes memory, Seconds least_step) const {
  constexpr double rounding = 1.0 - 1e-9;
  const Seconds step = rounding * question_.calibration.time.factor * least_step;
  if (!space_.question().prunes) return false;
  const auto is_out = [&](const PlannedRun& least) {
    return !is_within_limits(least) || (keeper_->is_beaten(least) && !may_be_surest(least));
  };
  const PlannedRun least = planned(recompute, memory, step, Failures::none);
  if (is_out(least)) return true;
  const bool grows = base_->clock && base_->clock->grows_with_steps();
  if (!grows || !(follows_total(space_.question()) || keeper_->is_behind(least))) return false;
  return is_out(planned(recompute, memory, step, Failures::counted));
}

}  // namespace llmcalc::search
