// What the search over a unit prices, and when. unit_search.cpp goes through what is chosen.
#include "answer/levels.hpp"
#include "llmcalc/trust/verdict_kind.hpp"
#include "search/inner/unit_search.hpp"
#include "spec/node.hpp"
#include "spec/traits.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace llmcalc::search {

using quantity::Bytes;
using quantity::Seconds;

void UnitSearch::make_weight_programs(const Pipeline& pipeline) {
  be_plain(pipeline);
  question_.layout.sp = false;
  question_.layout.sharding = spec::Sharding::none;
  question_.training.offload = spec::Offload::none;
  for (std::uint32_t i = 0; i < weights_.size(); ++i) {
    if (weight_slot_[i] != i) continue;
    question_.training.recompute = space_.recomputes()[i];
    program::build_program(question_, profile(i), weights_[i].program);
  }
}

/// Of schedules they depend on nothing but whether weights' gradients wait.
void UnitSearch::make_rules() {
  for (const bool deferred : {false, true}) {
    question_.layout.schedule = deferred ? spec::Schedule::zero_bubble : spec::Schedule::one_f_one_b;
    for (std::uint32_t i = 0; i < weights_.size(); ++i) rules_[deferred][i] = memory::step_rules(question_, profile(i));
  }
}

void UnitSearch::price_weights(const Pipeline& pipeline) {
  const program::StateSharding sharding(question_.layout);
  for (std::uint32_t i = 0; i < weights_.size(); ++i) {
    if (weight_slot_[i] != i) continue;
    PricedWeights& priced = weights_[i];
    priced.memory.assign(priced.program, question_, profile(i), sharding);
    priced.traffic.clear();
    for (const auto& block : priced.program.blocks) {
      priced.traffic.push_back(timing::weight_traffic(block, question_.training, profile(i), sharding, *kernels_));
    }
    timing::time_traffic(priced.traffic, question_, profile(i), prices(), priced.exchanges);
    priced.stages.clear(pipeline.stages.size());
  }
}

/// A walk without activations is a lower bound: each of them only adds to a moment. Recompute policies differ in
/// nothing else. What is beyond counting fits nowhere.
bool UnitSearch::states_fit(const Pipeline& pipeline, std::uint32_t list) try {
  const PricedWeights& weights = weights_of(0);
  static constexpr std::size_t most_blocks = 64;
  static constexpr std::array<memory::BlockWalk, most_blocks> empty{};
  if (weights.program.blocks.size() > most_blocks) return true;
  const auto walks = std::span(empty).first(weights.program.blocks.size());
  const memory::StageWalk walk = stage_walk(0, walks, weights.program.companions);
  const Bytes least = least_peak(walk, list, pipeline.stages[list], rests_.front());
  if (needed(0, least) > base_->capacity) return false;
  const auto& rests = rests_.front().get(walk, list, pipeline.stages[list]);
  return !spec::uses_host(question_) || host_has(std::ranges::max(rests, {}, &memory::StageRest::host).host, {});
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

ProgramKey UnitSearch::key_of(std::uint32_t recompute, const Pipeline& pipeline) const {
  const spec::Training& training = question_.training;
  const bool casts = training.precision.autocast && spec::zero_stage(question_.layout.sharding) < 3;
  const std::int64_t generated = training.makes_samples() ? training.grad_accum : 0;
  const auto row = static_cast<std::uint32_t>(first_profile_ + recompute);
  return {row, question_.layout.sp, pipeline.blocks, casts, generated};
}

const memory::StageWalk& UnitSearch::walk_of(PricedPolicy& policy, bool deferred) {
  auto& walk = policy.walks[deferred];
  if (!walk) {
    const auto& walks = prices_.walks(policy.program, rules_[deferred][policy.recompute]).walks;
    walk.emplace(stage_walk(policy.recompute, walks, policy.program.program.companions));
  }
  return *walk;
}

Bytes UnitSearch::memory_of(PricedPolicy& policy, const Pipeline& pipeline, const Order& order) {
  const bool deferred = order.schedule == spec::Schedule::zero_bubble;
  const auto& walk = walk_of(policy, deferred);
  const std::uint32_t list = order.cut->stages[policy.recompute];
  return needed(policy.recompute, peaks_[deferred].worst(walk, list, pipeline.stages[list], rests_[policy.recompute]));
}

bool UnitSearch::host_has(Bytes of_rank, Bytes of_first) const {
  const Bytes needed = spec::host_need_of(question_, of_rank) + of_first;
  const auto capacity = spec::host_capacity_of(question_);
  if (capacity && needed > *capacity) return false;
  return !space_.question().strict || trust::host_excess(question_, needed) <= 0.0;
}

/// What rests on the accelerator but for paged states asks nothing of its host.
bool UnitSearch::host_fits(PricedPolicy& policy, const Pipeline& pipeline, const Order& order,
                           const memory::CheckpointNeeds& saving) {
  if (!spec::uses_host(question_)) return true;
  const bool deferred = order.schedule == spec::Schedule::zero_bubble;
  const std::uint32_t list = order.cut->stages[policy.recompute];
  auto& rests = rests_[policy.recompute];
  const auto& walk = walk_of(policy, deferred);
  const Bytes of_rank = peaks_[deferred].highest_host(walk, list, pipeline.stages[list], rests);
  return host_has(of_rank + saving.host_of_each, saving.host_of_first);
}

/// What rests on a stage while a checkpoint is written counts as needed there; gradients and activations are gone.
memory::CheckpointNeeds UnitSearch::saving_needs(PricedPolicy& policy, const Pipeline& pipeline, const Order& order) {
  memory::CheckpointNeeds highest;
  if (question_.training.save_checkpoint == spec::SaveCheckpoint::none) return highest;
  const auto& walk = walk_of(policy, order.schedule == spec::Schedule::zero_bubble);
  for (const auto& group : pipeline.stages[order.cut->stages[policy.recompute]]) {
    const auto needs = memory::checkpoint_needs(weights_of(policy.recompute).program, group.runs, question_);
    const Bytes resting = walk.walk(group.runs, 0).persistent.total();
    highest.accelerator = std::max(highest.accelerator, resting + needs.accelerator);
    highest.host_of_each = std::max(highest.host_of_each, needs.host_of_each);
    highest.host_of_first = std::max(highest.host_of_first, needs.host_of_first);
  }
  return highest;
}

const std::vector<timing::StageTraffic>& UnitSearch::traffic_of(std::uint32_t recompute, std::uint32_t list,
                                                                Stages stages) {
  PricedWeights& weights = weights_[weight_slot_[recompute]];
  return weights.stages.get(list, [&](std::vector<timing::StageTraffic>& made) {
    timing::add_up_traffic(stages, weights.traffic, weights.program.companions, question_, profile(recompute), prices(),
                           made);
  });
}

Seconds UnitSearch::step_time(PricedPolicy& policy, const Pipeline& pipeline, const Order& order) {
  const std::uint32_t list = order.cut->stages[policy.recompute];
  const auto& times = times_.get(list, [&](timing::PipelineTimes& made) {
    auto& priced = policy.program;
    const PricedWeights& weights = weights_of(policy.recompute);
    const auto& own = profile(policy.recompute);
    const Stages stages = pipeline.stages[list];
    const auto& sums = priced.work.get(list, [&](std::vector<timing::StagePasses>& sum) {
      timing::add_up_work(stages, priced.times, priced.program.companions, question_, own, sum);
    });
    const timing::StepPrices costs{priced.times, weights.exchanges, priced.program.sequence.back(),
                                   timing::handed_on(weights.program, priced.program.blocks)};
    timing::time_stages({stages, sums, traffic_of(policy.recompute, list, stages)}, costs, question_, own, prices(),
                        made);
  });
  return times.total(question_.layout, question_.training.grad_accum);
}

}  // namespace llmcalc::search
