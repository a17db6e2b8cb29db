#include "search/unit_search.hpp"

#include "llmcalc/answer/levels.hpp"
#include "llmcalc/frameworks/layout_rules.hpp"
#include "llmcalc/frameworks/table.hpp"
#include "llmcalc/memory/communicators.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/spec/traits.hpp"
#include "llmcalc/trust/verdict_kind.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <span>
#include <utility>

namespace llmcalc::search {

using quantity::Bytes;
using quantity::product;
using quantity::Seconds;

namespace {

/// The stated values, or what the framework can do.
template <class T>
std::span<const T> values(const std::vector<T>& stated, std::span<const T> usual) {
  return stated.empty() ? usual : std::span<const T>(stated);
}

const frameworks::Space& space_of(const spec::Question& question) {
  return frameworks::row_of(question.training.framework).space;
}

/// Without replicas nothing can be sharded.
std::span<const spec::Sharding> shardings(const spec::RunChoices& choices, const spec::Question& question) {
  static constexpr std::array alone{spec::Sharding::none};
  const bool replicated = product(question.layout.dp, question.layout.cp) > 1;
  return values(choices.sharding, replicated ? space_of(question).shardings.span() : std::span(alone));
}

/// 1F1B alone where there is no pipeline.
std::span<const spec::Schedule> schedules(const spec::RunChoices& choices, const spec::Question& question) {
  static constexpr std::array plain{spec::Schedule::one_f_one_b};
  if (question.layout.pp == 1) return plain;
  return values(choices.schedule, space_of(question).schedules.span());
}

/// The same layers stand in the same blocks.
bool share_blocks(const spec::Recompute& a, const spec::Recompute& b) {
  const bool all = a.layers == spec::RecomputeLayers::all && b.layers == spec::RecomputeLayers::all;
  return all || (a.layers == b.layers && a.count == b.count);
}

std::vector<std::uint32_t> weight_slots(std::span<const spec::Recompute> recomputes) {
  std::vector<std::uint32_t> slots;
  for (const auto& recompute : recomputes) {
    const auto first = std::ranges::find_if(recomputes, [&](const auto& r) { return share_blocks(r, recompute); });
    slots.push_back(static_cast<std::uint32_t>(first - recomputes.begin()));
  }
  return slots;
}

}  // namespace

UnitSearch::UnitSearch(const PlanSpace& space)
    : space_(space), weight_slot_(weight_slots(space.recomputes())), weights_(space.recomputes().size()) {
  rules_.fill(std::vector<memory::StepRules>(space.recomputes().size()));
}

void UnitSearch::enter(std::uint32_t base) {
  if (base_ != nullptr && base_index_ == base) return;
  base_ = nullptr;
  const PlanSpace::Base& entered = space_.base(base);
  question_ = entered.question;
  kernels_.emplace(*entered.question.gpu, question_.training, entered.profile.front());
  base_index_ = base;
  base_ = &entered;
  first_profile_ = 0;
}

/// A part of the search that cannot be answered does not end the others.
void UnitSearch::search(const PlanUnit& unit, Keeper& keeper) try {
  keeper_ = &keeper;
  enter(unit.base);
  prices_.clear();
  spec::Layout& layout = question_.layout;
  layout.tp = unit.tp;
  layout.cp = unit.cp;
  layout.cp_exchange = unit.cp_exchange;
  layout.ep = unit.ep;
  layout.etp = unit.etp;
  question_.training.micro_batch = unit.micro_batch;
  for (const Pipeline& pipeline : base_->pipelines) search_pipeline(pipeline);
} catch (const std::exception& error) {
  keeper.miss(error.what());
}

/// Tensors beyond what can be counted fit nowhere.
void UnitSearch::search_pipeline(const Pipeline& pipeline) try {
  spec::Layout& layout = question_.layout;
  spec::Training& training = question_.training;
  const std::int64_t replica = product(layout.tp, layout.cp, pipeline.pp);
  if (layout.gpus % replica != 0) return;
  layout.pp = pipeline.pp;
  layout.dp = layout.gpus / replica;
  const auto& allowed = space_.question().choices.dp;
  if (!allowed.empty() && std::ranges::find(allowed, layout.dp) == allowed.end()) return;
  const std::int64_t at_once = product(layout.dp, training.micro_batch);
  if (training.global_batch % at_once != 0) return;
  training.grad_accum = training.global_batch / at_once;
  if (!can_be_cut()) return;
  make_weight_programs();
  for (const auto sharding : shardings(space_.question().choices, question_)) {
    layout.sharding = sharding;
    follow_sharding();
    network_.emplace(base_->links, *base_->question.gpu, layout);
    communicators_ = memory::communicator_buffers(question_);
    price_weights();
    search_offloads(pipeline);
  }
} catch (const quantity::Overflow&) {
}

/// With everything else at its plainest no rule is broken, so tensors, sequence and layers can be cut like this.
bool UnitSearch::can_be_cut() {
  spec::Layout& layout = question_.layout;
  layout.sp = false;
  layout.vpp = 1;
  layout.schedule = spec::Schedule::one_f_one_b;
  layout.sharding = spec::Sharding::none;
  question_.training.offload = spec::Offload::none;
  auto& target = question_.training.offload_to;
  const auto group = std::exchange(layout.sharding_group, 0);
  const bool reshard = std::exchange(layout.reshard, true);
  const auto offload_to = std::exchange(target, spec::OffloadTarget::host);
  const bool legal = is_legal();
  layout.sharding_group = group;
  layout.reshard = reshard;
  target = offload_to;
  return legal;
}

/// Other gradients are other choices of the framework.
void UnitSearch::follow_sharding() {
  spec::Training& training = question_.training;
  const std::size_t policies = space_.recomputes().size();
  if (base_->profile.size() == policies) return;
  training.precision.grads = spec::gradients_of(training, question_.layout.sharding);
  const bool as_unsharded = training.precision.grads == spec::gradients_of(training, spec::Sharding::none);
  first_profile_ = as_unsharded ? 0 : policies;
}

void UnitSearch::make_weight_programs() {
  for (std::uint32_t i = 0; i < weights_.size(); ++i) {
    if (weight_slot_[i] != i) continue;
    question_.training.recompute = space_.recomputes()[i];
    program::build_program(question_, profile(i), weights_[i].program);
  }
}

void UnitSearch::search_offloads(const Pipeline& pipeline) {
  const auto usual = space_of(question_).offloads.span();
  for (const auto offload : values(space_.question().choices.offload, usual)) {
    question_.training.offload = offload;
    make_rules();
    states_.clear(pipeline.stages.size());
    for (const bool split : {false, true}) {
      if (!may_split_sequence(split)) continue;
      question_.layout.sp = split;
      search_orders(pipeline);
    }
  }
}

/// Of schedules they depend on nothing but whether weights' gradients wait.
void UnitSearch::make_rules() {
  for (const bool deferred : {false, true}) {
    question_.layout.schedule = deferred ? spec::Schedule::zero_bubble : spec::Schedule::one_f_one_b;
    for (std::uint32_t i = 0; i < weights_.size(); ++i) rules_[deferred][i] = memory::step_rules(question_, profile(i));
  }
}

void UnitSearch::price_weights() {
  const program::Sharding sharding(question_.layout);
  for (std::uint32_t i = 0; i < weights_.size(); ++i) {
    if (weight_slot_[i] != i) continue;
    PricedWeights& priced = weights_[i];
    priced.memory.assign(priced.program, question_, profile(i), sharding);
    priced.traffic.clear();
    for (const auto& block : priced.program.blocks) {
      priced.traffic.push_back(timing::weight_traffic(block, question_.training, profile(i), sharding, *kernels_));
    }
  }
}

bool UnitSearch::may_split_sequence(bool split) const {
  const auto& stated = space_.question().choices.sp;
  if (!stated.empty() && std::ranges::find(stated, split) == stated.end()) return false;
  const auto& can = frameworks::row_of(question_.training.framework).abilities;
  return !split || can.splits.has(frameworks::Split::sequence);
}

void UnitSearch::search_orders(const Pipeline& pipeline) {
  list_orders(pipeline);
  if (orders_.empty()) return;
  question_.layout.schedule = spec::Schedule::one_f_one_b;
  question_.layout.vpp = 1;
  for (std::uint32_t i = 0; i < weights_.size(); ++i) evaluate(i, pipeline);
}

/// Layouts whose states alone do not fit are counted and left.
void UnitSearch::list_orders(const Pipeline& pipeline) {
  const auto policies = static_cast<std::int64_t>(weights_.size());
  orders_.clear();
  for (const auto schedule : schedules(space_.question().choices, question_)) {
    for (const Cut& cut : pipeline.cuts) {
      const Order order{schedule, &cut};
      take(order);
      if (!is_legal()) continue;
      keeper_->count(policies, 0);
      if (states_fit(pipeline, cut)) orders_.push_back(order);
    }
  }
}

void UnitSearch::take(const Order& order) {
  question_.layout.schedule = order.schedule;
  question_.layout.vpp = order.cut->vpp;
}

bool UnitSearch::is_legal() const {
  return frameworks::broken_rule({question_.model.shape, question_.training, question_.layout}) == nullptr;
}

/// A walk without activations is a lower bound: each of them only adds to a moment. Recompute policies differ in
/// nothing else. What is beyond counting fits nowhere.
bool UnitSearch::states_fit(const Pipeline& pipeline, const Cut& cut) try {
  const std::size_t blocks = weights_of(0).program.blocks.size();
  static constexpr std::size_t most_blocks = 64;
  static constexpr std::array<memory::BlockWalk, most_blocks> empty{};
  if (blocks > most_blocks) return true;
  const memory::StageWalk walk = stage_walk(0, std::span(empty).first(blocks), {});
  const std::uint32_t list = cut.stages.front();
  return fits(needed(0, states_.worst(walk, list, pipeline.stages[list])));
} catch (const quantity::Overflow&) {
  return false;
}

memory::StageWalk UnitSearch::stage_walk(std::uint32_t recompute, std::span<const memory::BlockWalk> walks,
                                         std::span<const program::Companion> companions) const {
  const PricedWeights& weights = weights_of(recompute);
  const auto& sequence = weights.program.sequence;
  const memory::BlockPrices prices{walks, &weights.memory, sequence.front(), sequence.back(), companions};
  return {prices, rules_[false][recompute], question_, profile(recompute)};
}

Bytes UnitSearch::needed(std::uint32_t recompute, Bytes allocated) const {
  return answer::needed_level(profile(recompute), allocated, communicators_);
}

ProgramKey UnitSearch::key_of(std::uint32_t recompute) const {
  const spec::Training& training = question_.training;
  const bool casts = training.precision.autocast && spec::zero_stage(question_.layout.sharding) < 3;
  const std::int64_t generated = training.makes_samples() ? training.grad_accum : 0;
  const auto row = static_cast<std::uint32_t>(first_profile_ + recompute);
  return {row, question_.layout.sp, question_.layout.pp > 1, casts, generated};
}

/// A size beyond what can be counted fits nowhere.
void UnitSearch::evaluate(std::uint32_t recompute, const Pipeline& pipeline) try {
  question_.training.recompute = space_.recomputes()[recompute];
  const auto& program = prices_.program(key_of(recompute), question_, profile(recompute), prices());
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
  const Bytes memory = memory_of(policy, pipeline, order);
  if (!fits(memory)) return;
  const PlannedRun run = planned(policy.recompute, memory, step_time(policy, pipeline, order));
  if (!is_within_limits(run)) return;
  keeper_->count(0, 1);
  keeper_->take(run);
} catch (const quantity::Overflow&) {
} catch (const std::exception& error) {
  keeper_->miss(error.what());
}

Bytes UnitSearch::memory_of(PricedPolicy& policy, const Pipeline& pipeline, const Order& order) {
  const bool deferred = order.schedule == spec::Schedule::zero_bubble;
  auto& walk = policy.walks[deferred];
  if (!walk) {
    const auto& walks = prices_.walks(policy.program, rules_[deferred][policy.recompute]).walks;
    walk.emplace(stage_walk(policy.recompute, walks, policy.program.program.companions));
  }
  const std::uint32_t list = order.cut->stages[policy.recompute];
  return needed(policy.recompute, peaks_[deferred].worst(*walk, list, pipeline.stages[list]));
}

Seconds UnitSearch::step_time(const PricedPolicy& policy, const Pipeline& pipeline, const Order& order) {
  const std::uint32_t list = order.cut->stages[policy.recompute];
  const auto& times = times_.get(list, [&](timing::PipelineTimes& made) {
    const program::Program& program = policy.program.program;
    const timing::StepPrices costs{policy.program.times, weights_of(policy.recompute).traffic, program.sequence.back(),
                                   timing::handed_on(program), program.companions};
    timing::time_stages(pipeline.stages[list], costs, question_, profile(policy.recompute), prices(), made);
  });
  return times.total(question_.layout, question_.training.grad_accum);
}

bool UnitSearch::fits(Bytes memory) const {
  if (memory > base_->capacity) return false;
  return !space_.question().strict || trust::excess(question_, memory, base_->capacity) <= 0.0;
}

PlannedRun UnitSearch::planned(std::uint32_t recompute, Bytes memory, Seconds step) const {
  const spec::Training& training = question_.training;
  PlannedRun run;
  run.choice = {base_index_, question_.layout, training.micro_batch, recompute, training.offload};
  run.memory = memory;
  run.step = step;
  run.total = step * base_->steps;
  if (base_->clock) run.total = run.total / base_->clock->share(step, run.total);
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
