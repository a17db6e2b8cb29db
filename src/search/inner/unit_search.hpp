// The search over one unit: prices of blocks and weights are made once, and composed for every layout that has them.
#pragma once

#include "search/inner/findings.hpp"
#include "search/inner/plan_prices.hpp"
#include "search/inner/plan_space.hpp"
#include "search/inner/stage_prices.hpp"

#include <array>
#include <optional>
#include <vector>

namespace llmcalc::search {

/// Prices of the weights of a program, for one number of replicas and one way to shard them.
struct PricedWeights {
  program::Program program;
  memory::WeightPrices memory;
  std::vector<timing::WeightTraffic> traffic;
  std::vector<timing::DataTraffic> exchanges;  ///< of each block, where its weights are gathered
  PerStages<std::vector<timing::StageTraffic>> stages;
};

/// In which order micro-batches run, and in how many chunks: what the passes of one do not depend on.
struct Order {
  spec::Schedule schedule = spec::Schedule::one_f_one_b;
  const StageCut* cut = nullptr;
};

/// One policy of recomputation, priced for all orders.
struct PricedPolicy {
  std::uint32_t recompute = 0;
  PricedProgram& program;
  std::array<std::optional<memory::StageWalk>, 2> walks{};  ///< by whether weights' gradients are deferred
};

/// Every loop fixes one part of the question; the innermost composes a run. Storage is kept from unit to unit.
class UnitSearch {
 public:
  explicit UnitSearch(const PlanSpace& space);

  void search(const PlanUnit& unit, Keeper& keeper);

 private:
  void enter(std::uint32_t base);
  bool restricts_policies() const;
  std::int64_t legal_policies();
  void take_graph(spec::CudaGraph graph);
  void search_pipeline(const Pipeline& pipeline);
  void search_offloads(const Pipeline& pipeline);
  void search_orders(const Pipeline& pipeline);
  bool list_legal_orders(const Pipeline& pipeline);
  void list_orders(const Pipeline& pipeline);
  void evaluate(std::uint32_t recompute, const Pipeline& pipeline);
  void compose(PricedPolicy& policy, const Pipeline& pipeline, const Order& order);
  bool is_legal(spec::LooksAt what) const;
  void follow_sharding();
  void make_weight_programs(const Pipeline& pipeline);
  void be_plain(const Pipeline& pipeline);
  void make_rules();
  void price_weights(const Pipeline& pipeline);
  void take(const Order& order) {
    question_.layout.schedule = order.schedule;
    question_.layout.vpp = order.cut->vpp;
  }
  bool may_split_sequence(bool split) const;
  bool states_fit(const Pipeline& pipeline, std::uint32_t list);
  ProgramKey key_of(std::uint32_t recompute, const Pipeline& pipeline) const;
  memory::StageWalk stage_walk(std::uint32_t recompute, std::span<const memory::BlockWalk> walks,
                               std::span<const program::Companion> companions) const;
  quantity::Bytes needed(std::uint32_t recompute, quantity::Bytes allocated) const;
  quantity::Bytes memory_of(PricedPolicy& policy, const Pipeline& pipeline, const Order& order);
  quantity::Seconds step_time(PricedPolicy& policy, const Pipeline& pipeline, const Order& order);
  bool fits(quantity::Bytes memory) const;
  bool host_has(quantity::Bytes of_rank, quantity::Bytes of_first) const;
  bool host_fits(PricedPolicy& policy, const Pipeline& pipeline, const Order& order,
                 const memory::CheckpointNeeds& saving);
  memory::CheckpointNeeds saving_needs(PricedPolicy& policy, const Pipeline& pipeline, const Order& order);
  const memory::StageWalk& walk_of(PricedPolicy& policy, bool deferred);
  bool surely_ends_in_time(quantity::Seconds step) const;
  PlannedRun planned(std::uint32_t recompute, quantity::Bytes memory, quantity::Seconds step) const;
  bool is_within_limits(const PlannedRun& run) const;
  const PricedWeights& weights_of(std::uint32_t recompute) const { return weights_[weight_slot_[recompute]]; }
  const std::vector<timing::StageTraffic>& traffic_of(std::uint32_t recompute, std::uint32_t list, Stages stages);
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
  std::optional<timing::KernelPrices> kernels_;
  std::optional<timing::Network> network_;
  quantity::Bytes communicators_;
  PlanPrices prices_;
  std::vector<std::uint32_t> weight_slot_;  ///< of each recompute policy: those with the same blocks share one
  std::vector<PricedWeights> weights_;
  /// For each recompute policy, by whether weights' gradients are deferred, which bubbles alone ask for.
  std::array<std::vector<memory::StepRules>, 2> rules_;
  std::array<std::vector<Order>, 2> legal_orders_;  ///< of the pipeline, by whether sequences are split
  std::vector<Order> orders_;                       ///< the legal ones whose states fit
  std::vector<std::optional<bool>> states_fit_;     ///< for each list of stages of the pipeline
  std::vector<StageRests> rests_;                   ///< for each recompute policy
  std::array<StagePeaks, 2> peaks_;                 ///< of one policy, by whether weights' gradients are deferred
  PerStages<timing::PipelineTimes> times_;          ///< of one policy
};

}  // namespace llmcalc::search
