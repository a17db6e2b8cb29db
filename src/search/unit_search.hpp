// The search over one unit: prices of blocks and weights are made once, and composed for every layout that has them.
#pragma once

#include "llmcalc/memory/stage_walk.hpp"
#include "search/findings.hpp"
#include "search/plan_prices.hpp"
#include "search/plan_space.hpp"

#include <optional>
#include <vector>

namespace llmcalc::search {

/// Prices of the weights of a program, for one number of replicas and one way to shard them.
struct PricedWeights {
  program::Program program;
  memory::WeightPrices memory;
  std::vector<timing::WeightTraffic> traffic;
};

/// Every loop fixes one part of the question; the innermost composes a run. Storage is kept from unit to unit.
class UnitSearch {
 public:
  explicit UnitSearch(const PlanSpace& space);

  void search(const PlanUnit& unit, Keeper& keeper);

 private:
  using Stages = std::span<const program::StageGroup>;

  void enter(std::uint32_t base);
  void search_pipeline(const Pipeline& pipeline);
  void search_offloads(const Pipeline& pipeline);
  void search_schedules(const Pipeline& pipeline);
  void search_cut(const Cut& cut);
  void evaluate(std::uint32_t recompute, Stages stages);
  bool can_be_cut();
  void follow_sharding();
  void make_weight_programs();
  void price_weights();
  bool is_legal() const;
  bool states_fit(const Cut& cut) const;
  quantity::Bytes device_bytes(std::uint32_t recompute, std::span<const memory::BlockWalk> walks,
                               std::span<const program::Companion> companions, Stages stages) const;
  quantity::Seconds step_time(std::uint32_t recompute, const PricedProgram& priced, Stages stages) const;
  bool fits(quantity::Bytes memory) const;
  PlannedRun planned(std::uint32_t recompute, quantity::Bytes memory, quantity::Seconds step) const;
  bool is_within_limits(const PlannedRun& run) const;
  const PricedWeights& weights_of(std::uint32_t recompute) const { return weights_[weight_slot_[recompute]]; }
  const frameworks::Profile& profile(std::uint32_t recompute) const {
    return base_->profile[first_profile_ + recompute];
  }
  timing::Prices prices() const { return {*kernels_, *network_, question_.training.precision.compute}; }

  const PlanSpace& space_;
  const PlanSpace::Base* base_ = nullptr;
  std::uint32_t base_index_ = 0;
  std::size_t first_profile_ = 0;  ///< of the base's profiles, those of the gradients that the sharding asks for
  Keeper* keeper_ = nullptr;
  spec::Question question_;  ///< the run that is being put together
  std::optional<timing::Kernels> kernels_;
  std::optional<timing::Network> network_;
  quantity::Bytes communicators_;
  PlanPrices prices_;
  std::vector<std::uint32_t> weight_slot_;  ///< of each recompute policy: those with the same blocks share one
  std::vector<PricedWeights> weights_;
  std::vector<memory::StepRules> rules_;  ///< for each recompute policy
};

}  // namespace llmcalc::search
