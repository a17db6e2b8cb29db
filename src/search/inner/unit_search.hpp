// The search over one unit: prices of blocks and weights are made once, and composed for every layout that has them.
//
// A micro-batch more makes every tensor of a pass larger and none smaller, so that a way to hold the states that has no
// room for one sequence has none for two. A layout whose memory and least time a kept run betters is not priced.
#pragma once

#include "search/inner/plan_units.hpp"
#include "search/inner/unit_prices.hpp"
#include "search/plan.hpp"

#include <array>
#include <limits>
#include <optional>
#include <vector>

namespace llmcalc::search {

/// Takes runs one by one and keeps those that matter.
class Keeper {
 public:
  explicit Keeper(const PlanSpace& space) : space_(space) {}

  /// A run within all limits.
  void take(const PlannedRun& run);

  /// Whether nothing of which these are the least figures is among the best, the best of its base or on the front.
  bool is_beaten(const PlannedRun& least);
  void count(std::int64_t looked_at, std::int64_t fitting) {
    findings_.looked_at += looked_at;
    findings_.fitting += fitting;
  }

  /// A run that could not be answered.
  void miss(std::string_view why);

  std::int64_t fitting() const { return findings_.fitting; }
  Findings in_order() const;

 private:
  void take_best(const PlannedRun& run);
  void take_each(const PlannedRun& run);
  void take_front(const PlannedRun& run);
  bool surely_better(const PlannedRun& kept, const PlannedRun& least) const;
  bool is_kept_out(const PlannedRun& run, const PlannedRun& by) const;

  const PlanSpace& space_;
  Findings findings_;
};

inline constexpr quantity::Bytes nowhere = quantity::bytes(std::numeric_limits<std::int64_t>::max());

/// In which order micro-batches run, and in how many chunks: what the passes of one do not depend on.
struct Order {
  spec::Schedule schedule = spec::Schedule::one_f_one_b;
  const StageCut* cut = nullptr;
  std::uint32_t legal = 0;  ///< a bit for each variant that it goes with
};

/// One policy of recomputation, priced for all orders.
struct PricedPolicy {
  std::uint32_t recompute = 0;
  PricedProgram& program;                                   ///< of the unit's first variant
  std::array<std::optional<memory::StageWalk>, 2> walks{};  ///< by whether weights' gradients are deferred
};

/// Every loop fixes one part of the question; the innermost composes a run. Storage is kept from unit to unit.
class UnitSearch {
 public:
  explicit UnitSearch(const PlanSpace& space);

  void search(const PlanUnit& unit, Keeper& keeper);

 private:
  void enter(std::uint32_t base);
  bool cut(std::int64_t pp);
  bool take_micro_batch(std::int64_t micro_batch, std::int64_t dp);
  void list_cells(const PlanUnit& unit);
  void add_cells(PipelineCells& pipeline);
  void search_micro_batch(std::int64_t micro_batch);
  void search_pipeline(PipelineCells& pipeline);
  void search_cell(const Pipeline& pipeline, Cell& cell);
  std::int64_t layouts_of(const Cell& cell) const;
  bool list_legal_orders(const Pipeline& pipeline);
  bool may_split_sequence(bool split) const;
  quantity::Bytes evaluate(std::uint32_t recompute, const Pipeline& pipeline);
  quantity::Bytes least_memory(const PricedPolicy& policy, const Pipeline& pipeline);
  bool is_too_slow(const Pipeline& pipeline);
  void compose(PricedPolicy& policy, const Pipeline& pipeline, const Order& order);
  void take_variant(const Variant& variant);
  void enter(Cell& cell);
  void prepare(const Pipeline& pipeline, Cell& cell);
  void make_rules(Cell& cell);
  bool needs_less_at_once();
  std::uint32_t legal_variants(frameworks::LooksAt what);
  void follow_sharding(Sharded& sharded);
  void make_weight_programs(PipelineCells& pipeline);
  void be_plain(const Pipeline& pipeline);
  void price_weights(const PipelineCells& pipeline, Sharded& sharded);
  void take(const Order& order);
  bool is_legal(frameworks::LooksAt what) const;
  bool states_fit(const Pipeline& pipeline, std::uint32_t list);
  PricedProgram& program_of(std::uint32_t recompute, const Pipeline& pipeline);
  memory::StageWalk stage_walk(std::uint32_t recompute, std::span<const memory::BlockWalk> walks,
                               std::span<const program::Companion> companions, bool deferred) const;
  const memory::StageWalk& walk_of(PricedPolicy& policy, bool deferred);
  quantity::Bytes needed(std::uint32_t recompute, quantity::Bytes allocated) const;
  quantity::Bytes memory_of(PricedPolicy& policy, const Pipeline& pipeline, const Order& order);
  memory::CheckpointNeeds saving_needs(PricedPolicy& policy, const Pipeline& pipeline, const Order& order);
  bool fits(quantity::Bytes memory) const;
  bool host_has(quantity::Bytes of_rank, quantity::Bytes of_first) const;
  bool host_fits(PricedPolicy& policy, const Pipeline& pipeline, const Order& order,
                 const memory::CheckpointNeeds& saving);
  const std::vector<timing::StagePasses>& work_of(PricedProgram& program, std::uint32_t recompute, std::uint32_t list,
                                                  Stages stages);
  quantity::Seconds least_step(PricedPolicy& policy, const Pipeline& pipeline, const Order& order);
  quantity::Seconds step_time(std::size_t variant, std::uint32_t recompute, const Pipeline& pipeline,
                              const Order& order);
  PlannedRun planned(std::uint32_t recompute, quantity::Bytes memory, quantity::Seconds step) const;
  bool is_ruled_out(std::uint32_t recompute, quantity::Bytes memory, quantity::Seconds least_step) const;
  bool is_within_limits(const PlannedRun& run) const;
  const PricedWeights& weights_of(std::uint32_t recompute) const { return sharded_->weights[weight_slot_[recompute]]; }
  const frameworks::Profile& profile(std::uint32_t recompute) const {
    return base_->profile[first_profile_ + recompute];
  }
  timing::Prices prices();

  const PlanSpace& space_;
  const PlanSpace::Base* base_ = nullptr;
  std::uint32_t base_index_ = 0;
  std::size_t first_profile_ = 0;  ///< of the base's, as Sharded says
  Keeper* keeper_ = nullptr;
  Sharded* sharded_ = nullptr;
  Cell* cell_ = nullptr;
  spec::Question question_;                                     ///< the run that is being put together
  std::array<std::optional<timing::KernelPrices>, 3> kernels_;  ///< by CUDA graphs, as the host is part of them
  std::vector<Variant> variants_;                               ///< of the unit
  timing::Hides hides_;                                         ///< what some of them do
  std::vector<memory::BlockWalk> no_activations_;
  PlanPrices prices_;
  std::vector<std::uint32_t> weight_slot_;  ///< of each recompute policy: those with the same blocks share one
  Pool<PipelineCells> pipelines_;
  std::array<std::vector<Order>, 2> legal_orders_;  ///< of the pipeline, by whether sequences are split
  std::array<StagePeaks, 2> peaks_;                 ///< of one policy, by whether weights' gradients are deferred
  StagePeaks least_peaks_;                        ///< of one policy, of the policy without what the allocator rounds up
  PerStages<timing::PipelineTimes> least_times_;  ///< of one policy, whatever the variant
  std::vector<PerStages<timing::PipelineTimes>> times_;  ///< of one policy, of each variant
};

}  // namespace llmcalc::search
