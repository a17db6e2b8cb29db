// One layout after another: what it takes, and whether it is worth keeping.
#include "answer/levels.hpp"
#include "llmcalc/trust/verdict_kind.hpp"
#include "search/inner/unit_search.hpp"
#include "spec/node.hpp"
#include "spec/traits.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <span>

namespace llmcalc::search {

using quantity::Bytes;
using quantity::Seconds;

timing::Prices UnitSearch::prices() {
  auto& kernels = own_[base_index_]->kernels.at(static_cast<std::size_t>(question_.training.cuda_graph));
  if (!kernels) kernels.emplace(*base_->question.gpu, question_.training, base_->profile.front());
  return {*kernels, *sharded_->network, question_.training.precision.compute};
}

void UnitSearch::make_weight_programs(PipelineCells& pipeline) {
  be_plain(*pipeline.pipeline);
  question_.layout.sp = false;
  question_.layout.sharding = spec::Sharding::none;
  question_.training.offload = spec::Offload::none;
  pipeline.weights.resize(weight_slot_.size());
  for (std::uint32_t i = 0; i < weight_slot_.size(); ++i) {
    if (weight_slot_[i] != i) continue;
    question_.training.recompute = space_.recomputes()[i];
    program::build_program(question_, profile(i), pipeline.weights[i]);
  }
}

void UnitSearch::price_weights(const PipelineCells& pipeline, Sharded& sharded) {
  const program::StateSharding sharding(question_.layout);
  sharded.weights.resize(weight_slot_.size());
  for (std::uint32_t i = 0; i < weight_slot_.size(); ++i) {
    if (weight_slot_[i] != i) continue;
    PricedWeights& priced = sharded.weights[i];
    priced.program = &pipeline.weights[i];
    priced.memory.assign(*priced.program, question_, profile(i), sharding);
  }
}

void UnitSearch::price_traffic(std::uint32_t recompute, PricedWeights& weights) {
  const program::StateSharding sharding(question_.layout);
  const auto& own = profile(weight_slot_[recompute]);
  for (const auto& block : weights.program->blocks) {
    weights.traffic.push_back(timing::weight_traffic(block, question_.training, own, sharding, prices().kernels));
  }
  timing::time_traffic(weights.traffic, question_, own, prices(), weights.exchanges);
}

/// Rules depend on nothing of schedules but whether weights' gradients wait.
void UnitSearch::make_rules(HeldStates& held) {
  for (const bool deferred : {false, true}) {
    question_.layout.schedule = deferred ? spec::Schedule::zero_bubble : spec::Schedule::one_f_one_b;
    held.rules[deferred].resize(weight_slot_.size());
    for (std::uint32_t i = 0; i < weight_slot_.size(); ++i) {
      held.rules[deferred][i] = memory::step_rules(question_, profile(i));
    }
  }
}

/// Whether a step of one micro-batch has no gradients beside it that one of several has.
bool UnitSearch::needs_less_at_once() {
  const std::int64_t now = question_.training.grad_accum;
  const auto rules_of = [&](std::int64_t micro_batches) {
    question_.training.grad_accum = micro_batches;
    return memory::step_rules(question_, profile(0));
  };
  const auto several = rules_of(2);
  const auto one = rules_of(1);
  question_.training.grad_accum = now;
  const bool alike = several.gradients_resident == one.gradients_resident &&
                     several.flat_gradients == one.flat_gradients && several.gradients == one.gradients;
  return !alike || several.keeps_last_graph;
}

/// Prepares a way to hold the states, whatever its micro-batches do. Layouts whose states alone do not fit are
/// left.
void UnitSearch::prepare(const Pipeline& pipeline, Cell& cell) {
  cell.accumulates = question_.training.grad_accum > 1;
  if (!held().is_known) hold_states(pipeline, held());
  cell.states_fit.clear();
  cell.least = nowhere;
  for (const LeastStates& least : held().least) cell.states_fit.push_back(states_fit(least));
}

void UnitSearch::hold_states(const Pipeline& pipeline, HeldStates& held) {
  const std::size_t lists = pipeline.stages.size();
  be_plain(pipeline);
  question_.layout.sp = false;
  make_rules(held);
  be_plain(pipeline);
  held.rests.resize(weight_slot_.size());
  for (StageRests& rests : held.rests) rests.clear(lists);
  question_.training.recompute = space_.recomputes().front();
  held.least.clear();
  for (std::uint32_t list = 0; list < lists; ++list) held.least.push_back(least_states(pipeline, list));
  held.is_known = true;
}

/// A walk without activations is a lower bound: each of them only adds to a moment. Recompute policies differ in
/// nothing else. What is beyond counting fits nowhere.
LeastStates UnitSearch::least_states(const Pipeline& pipeline, std::uint32_t list) try {
  const program::Program& program = *weights_of(0).program;
  no_activations_.resize(program.blocks.size());
  const memory::StageWalk walk = stage_walk(0, no_activations_, program.companions, false);
  least_peaks_.clear(pipeline.stages.size());
  auto& rests = held().rests.front();
  const Bytes allocated = least_peaks_.least(walk, list, pipeline.stages[list], rests);
  const auto& resting = rests.get(walk, list, pipeline.stages[list]);
  return {allocated, std::ranges::max(resting, {}, &memory::StageRest::host).host};
} catch (const quantity::Overflow&) {
  return {};
}

bool UnitSearch::states_fit(const LeastStates& least) {
  if (!least.allocated) return false;
  const Bytes needs = needed(0, *least.allocated);
  cell_->least = std::min(cell_->least, needs);
  return needs <= base_->capacity && (!spec::uses_host(question_) || host_has(least.host, {}, wanted_fit()));
}

memory::StageWalk UnitSearch::stage_walk(std::uint32_t recompute, std::span<const memory::BlockWalk> walks,
                                         std::span<const program::Companion> companions, bool deferred) const {
  const PricedWeights& weights = weights_of(recompute);
  const auto& sequence = weights.program->sequence;
  const memory::BlockPrices prices{walks, &weights.memory, sequence.front(), sequence.back(), companions};
  return {prices, held().rules[deferred][recompute], question_, profile(recompute)};
}

Bytes UnitSearch::needed(std::uint32_t recompute, Bytes allocated) const {
  return answer::needed_level(profile(recompute), allocated, sharded_->communicators);
}

PricedProgram& UnitSearch::program_of(std::uint32_t recompute, const Pipeline& pipeline, Length length) {
  const spec::Training& training = question_.training;
  const bool casts = training.precision.autocast && spec::zero_stage(question_.layout.sharding) < 3;
  const std::int64_t generated = training.generates() ? training.grad_accum : 0;
  const auto row = static_cast<std::uint32_t>(first_profile_ + recompute);
  const ProgramKey key{
      row, question_.layout.sp, pipeline.blocks, casts, generated, question_.layout.node_dispatch, training.cuda_graph};
  const timing::Prices present = prices();
  if (length == Length::present) {
    return prices_[length_].program(key, base_index_, question_, profile(recompute), present);
  }
  auto& kernels = own_[base_index_]->long_kernels;
  if (!kernels) kernels = present.kernels.without_edges();
  const timing::Prices in_long{*kernels, present.network, present.compute};
  return long_prices_.program(key, base_index_, question_, profile(recompute), in_long);
}

/// Least memory of the policy with as long a micro-batch or longer. A size beyond what can be counted fits nowhere.
Bytes UnitSearch::evaluate(std::uint32_t recompute, const Pipeline& pipeline) try {
  if (cell_->legal[recompute] == 0) return nowhere;
  if (is_known_as_slow(recompute)) return cell_->least;
  question_.training.recompute = space_.recomputes()[recompute];
  take_variant(variants_.front());
  const std::size_t lists = pipeline.stages.size();
  for (StagePeaks& peaks : peaks_) peaks.clear(lists);
  for (auto* times : {&times_, &least_times_}) {
    times->resize(variants_.size());
    for (auto& of_variant : *times) of_variant.clear(lists);
  }
  if (is_too_slow(recompute, cell_->least, pipeline)) return cell_->least;
  PricedPolicy policy{recompute, program_of(recompute, pipeline)};
  const Bytes least = space_.question().prunes ? least_memory(policy, pipeline) : quantity::bytes(0);
  if (least > base_->capacity) return nowhere;
  if (is_too_slow(recompute, least, pipeline)) return least;
  for (const Order& order : legal_orders()) compose(policy, pipeline, order);
  be_plain(pipeline);
  return least;
} catch (const quantity::Overflow&) {
  return nowhere;
} catch (const std::exception& error) {
  for (std::size_t i = 0; i < legal_orders().size(); ++i) keeper_->miss(error.what());
  return quantity::bytes(0);
}

void UnitSearch::compose(PricedPolicy& policy, const Pipeline& pipeline, const Order& order) try {
  const std::uint32_t variants = order.legal & cell_->legal[policy.recompute];
  if (variants == 0 || !cell_->states_fit[order.cut->stages.front()]) return;
  take(order);
  const auto saving = saving_needs(policy, pipeline, order);
  const Bytes memory = std::max(memory_of(policy, pipeline, order), needed(policy.recompute, saving.accelerator));
  if (!fits(memory, wanted_fit()) || !host_fits(policy, pipeline, order, saving, wanted_fit())) return;
  if (is_ruled_out(policy.recompute, memory, least_step(policy, pipeline, order))) return;
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    if ((variants >> i & 1U) == 0) continue;
    take_variant(variants_[i]);
    const Seconds step = step_time(i, policy.recompute, pipeline, order);
    const PlannedRun run = planned(policy.recompute, memory, question_.calibration.time.factor * step);
    if (!is_within_limits(run)) continue;
    keeper_->count(0, 1);
    keeper_->take(run);
    if (may_be_surest(run) && host_fits(policy, pipeline, order, saving, Fit::sure)) keeper_->take_sure(run);
  }
  take_variant(variants_.front());
} catch (const quantity::Overflow&) {
} catch (const std::exception& error) {
  keeper_->miss(error.what());
}

const memory::StageWalk& UnitSearch::walk_of(PricedPolicy& policy, bool deferred) {
  auto& walk = policy.walks[deferred];
  if (!walk) {
    const auto& walks = prices_[length_].walks(policy.program, held().rules[deferred][policy.recompute]).walks;
    walk.emplace(stage_walk(policy.recompute, walks, policy.program.program.companions, deferred));
  }
  return *walk;
}

Bytes UnitSearch::memory_of(PricedPolicy& policy, const Pipeline& pipeline, const Order& order) {
  const bool deferred = order.schedule == spec::Schedule::zero_bubble;
  const auto& walk = walk_of(policy, deferred);
  const std::uint32_t list = order.cut->stages[policy.recompute];
  auto& rests = held().rests[policy.recompute];
  return needed(policy.recompute, peaks_[deferred].worst(walk, list, pipeline.stages[list], rests));
}

bool UnitSearch::fits(Bytes memory, Fit fit) const {
  if (memory > base_->capacity) return false;
  return fit == Fit::tight || trust::judge_accelerator(question_, memory, base_->capacity) == trust::VerdictKind::fits;
}

bool UnitSearch::host_has(Bytes of_rank, Bytes of_first, Fit fit) const {
  const Bytes needed = spec::host_need_of(question_, of_rank) + of_first;
  const auto verdict = trust::judge_host(question_, needed);
  return verdict == trust::VerdictKind::fits || (verdict == trust::VerdictKind::tight && fit == Fit::tight);
}

/// Whether it may be the best that fits beyond the error bar, as far as its accelerator goes. A search in which nothing
/// else counts has no other best.
bool UnitSearch::may_be_surest(const PlannedRun& run) const {
  return wanted_fit() == Fit::tight && !keeper_->is_surely_beaten(run) && fits(run.memory, Fit::sure);
}

/// Runs that rest on the accelerator but for paged states ask nothing of its host.
bool UnitSearch::host_fits(PricedPolicy& policy, const Pipeline& pipeline, const Order& order,
                           const memory::CheckpointNeeds& saving, Fit fit) {
  if (!spec::uses_host(question_)) return true;
  const bool deferred = order.schedule == spec::Schedule::zero_bubble;
  const std::uint32_t list = order.cut->stages[policy.recompute];
  auto& rests = held().rests[policy.recompute];
  const auto& walk = walk_of(policy, deferred);
  const Bytes of_rank = peaks_[deferred].highest_host(walk, list, pipeline.stages[list], rests);
  return host_has(of_rank + saving.host_of_each, saving.host_of_first, fit);
}

/// Needs while a checkpoint is written: what rests on a stage counts there; gradients and activations are gone.
memory::CheckpointNeeds UnitSearch::saving_needs(PricedPolicy& policy, const Pipeline& pipeline, const Order& order) {
  memory::CheckpointNeeds highest;
  if (question_.training.save_checkpoint == spec::SaveCheckpoint::none) return highest;
  const auto& walk = walk_of(policy, order.schedule == spec::Schedule::zero_bubble);
  for (const auto& group : pipeline.stages[order.cut->stages[policy.recompute]]) {
    const auto needs = memory::checkpoint_needs(*weights_of(policy.recompute).program, group.runs, question_);
    const Bytes resting = walk.walk(group.runs, 0).persistent.total();
    highest.accelerator = std::max(highest.accelerator, resting + needs.accelerator);
    highest.host_of_each = std::max(highest.host_of_each, needs.host_of_each);
    highest.host_of_first = std::max(highest.host_of_first, needs.host_of_first);
  }
  return highest;
}

const std::vector<timing::Passes>& UnitSearch::work_of(PricedProgram& program, std::uint32_t recompute,
                                                       std::uint32_t list, Stages stages) {
  return program.work.get(list, [&](std::vector<timing::Passes>& sum) {
    timing::add_up_work(stages, program.times, program.program.companions, question_, profile(recompute), sum);
  });
}

/// The program that all orders share.
PricedProgram& UnitSearch::plain_program(std::uint32_t recompute, const Pipeline& pipeline) {
  const spec::Layout layout = question_.layout;
  be_plain(pipeline);
  auto& priced = program_of(recompute, pipeline);
  question_.layout = layout;
  return priced;
}

Seconds UnitSearch::step_time(std::size_t variant, std::uint32_t recompute, const Pipeline& pipeline,
                              const Order& order) {
  const std::uint32_t list = order.cut->stages[recompute];
  const auto& times = times_[variant].get(list, [&](timing::PipelineTimes& made) {
    auto& priced = plain_program(recompute, pipeline);
    PricedWeights& weights = sharded_->weights[weight_slot_[recompute]];
    if (weights.traffic.empty()) {
      price_traffic(recompute, weights);
      weights.stages.clear(pipeline.stages.size());
    }
    const auto& own = profile(recompute);
    const Stages stages = pipeline.stages[list];
    const auto& traffic = weights.stages.get(list, [&](std::vector<timing::StageTraffic>& sum) {
      timing::add_up_traffic(stages, weights.traffic, weights.program->companions, question_, own, prices(), sum);
    });
    const timing::StepPrices costs{priced.times, weights.exchanges, priced.program.sequence.back(),
                                   timing::handed_on(*weights.program, priced.program.blocks)};
    const auto& work = work_of(priced, recompute, list, stages);
    timing::time_stages({stages, work, traffic}, costs, question_, own, prices(), made);
  });
  return times.total(question_.layout, question_.training.grad_accum);
}

PlannedRun UnitSearch::planned(std::uint32_t recompute, Bytes memory, Seconds step, Failures failures) const {
  const spec::Training& training = question_.training;
  PlannedRun run;
  run.choice = {base_index_, question_.layout, training.micro_batch, recompute, training.offload, training.cuda_graph};
  run.memory = memory;
  run.step = step;
  run.total = run.step * base_->steps;
  if (base_->clock && failures == Failures::counted) run.total = run.total / base_->clock->share(run.step, run.total);
  if (base_->dollars_an_hour) run.cost = *base_->dollars_an_hour * quantity::in_hours(run.total);
  if (base_->power) run.energy = *base_->power * run.total;
  return run;
}

bool UnitSearch::is_within_limits(const PlannedRun& run) const {
  const PlanLimits& limits = space_.question().limits;
  const bool ends = std::isfinite(quantity::in_seconds(run.total));
  return ends && !(limits.time && run.total > *limits.time) && !(limits.cost && *run.cost > *limits.cost);
}

}  // namespace llmcalc::search
