// The search over one unit: prices of blocks and weights are made once, and composed for every layout that has them.
//
// A micro-batch more makes every tensor of a pass larger and none smaller, so that a way to hold the states that has no
// room for one sequence has none for two. A layout whose memory and least time a kept run betters is not priced.
#pragma once

#include "memory/block_prices.hpp"
#include "memory/stage_walk.hpp"
#include "program/build.hpp"
#include "search/inner/keeper.hpp"
#include "search/inner/plan_units.hpp"
#include "search/plan.hpp"
#include "timing/step_time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace llmcalc::search {

// What the layouts of a search unit share, each part made when it is first needed.

using Stages = std::span<const program::StageGroup>;

/// Storage that is kept from unit to unit. References stay valid until it is cleared.
template <class T>
class Pool {
 public:
  void clear() { used_ = 0; }
  T& next() {
    if (used_ == store_.size()) store_.emplace_back();
    return store_[used_++];
  }
  auto begin() { return store_.begin(); }
  auto end() { return store_.begin() + static_cast<std::ptrdiff_t>(used_); }

 private:
  std::size_t used_ = 0;
  std::deque<T> store_;
};

/// Values of each list of stages of a pipeline, made when first asked for.
template <class Walked>
class PerStages {
 public:
  void clear(std::size_t lists) {
    known_.assign(lists, false);
    if (walked_.size() < lists) walked_.resize(lists);
  }

  /// \param walk  makes it, called with what to overwrite
  template <class Walk>
  const Walked& get(std::uint32_t list, const Walk& walk) {
    if (!known_[list]) walk(walked_[list]);
    known_[list] = true;
    return walked_[list];
  }

 private:
  std::vector<bool> known_;
  std::vector<Walked> walked_;
};

/// Key of the operations of a program beside the unit.
struct ProgramKey {
  std::uint32_t profile = 0;  ///< of the base's
  bool sp = false;
  std::uint32_t blocks = 0;    ///< of the pipeline
  bool casts = false;          ///< weights are cast at each use: sharded ones arrive in the narrow type
  std::int64_t generated = 0;  ///< micro-batches whose samples are made at once
  bool node_dispatch = false;
  spec::CudaGraph cuda_graph = spec::CudaGraph::none;

  friend bool operator==(const ProgramKey&, const ProgramKey&) = default;
};

/// A program and the time of its blocks on one accelerator.
struct PricedProgram {
  ProgramKey key;
  program::Program program;
  std::uint32_t base = 0;  ///< whose accelerator's times these are
  std::vector<timing::BlockTime> times;
  std::optional<timing::Passes> all;            ///< of one micro-batch, on all stages together
  PerStages<std::vector<timing::Passes>> work;  ///< of the pipeline's lists of stages
};

/// Its blocks' memory under one way of making gradients.
struct PricedWalks {
  const PricedProgram* of = nullptr;
  memory::WeightGradients gradients;
  bool counts_slack = false;
  std::vector<memory::BlockWalk> walks;
};

/// The block prices of one micro-batch of a unit. Programs and their memory are those of all bases alike.
class PlanPrices {
 public:
  void clear();

  /// Begins another pipeline.
  void enter(std::size_t lists);

  PricedProgram& program(const ProgramKey& key, std::uint32_t base, const spec::Question& question,
                         const frameworks::Profile& profile, const timing::Prices& prices);
  const PricedWalks& walks(const PricedProgram& program, const memory::StepRules& rules);

 private:
  std::size_t lists_ = 0;  ///< of stages
  Pool<PricedProgram> programs_;
  Pool<PricedWalks> walks_;
};

/// Prices of the weights of a program, for one number of replicas and one way to shard them.
struct PricedWeights {
  const program::Program* program = nullptr;
  memory::WeightPrices memory;
  std::vector<timing::WeightTraffic> traffic;  ///< what follows is of one accelerator, made when first needed
  std::vector<timing::DataTraffic> exchanges;  ///< of each block, where its weights are gathered
  PerStages<std::vector<timing::StageTraffic>> stages;
};

/// One way to shard the states of a pipeline.
struct Sharded {
  spec::Sharding sharding = spec::Sharding::none;
  std::size_t first_profile = 0;           ///< of the base's, those of the gradients that the sharding asks for
  std::vector<PricedWeights> weights;      ///< of each recompute policy that has blocks of its own
  std::optional<timing::Network> network;  ///< of one accelerator, made when first needed
  quantity::Bytes communicators;           ///< beside it
};

/// Memory of the states of stages, each priced once for all activations.
class StageRests {
 public:
  void clear(std::size_t lists) { rests_.clear(lists); }
  const std::vector<memory::StageRest>& get(const memory::StageWalk& walk, std::uint32_t list, Stages stages);

 private:
  PerStages<std::vector<memory::StageRest>> rests_;
};

/// The highest moment of any of the stages of a pipeline, each walked once for all orders of micro-batches.
class StagePeaks {
 public:
  void clear(std::size_t lists) { needs_.clear(lists); }
  quantity::Bytes worst(const memory::StageWalk& walk, std::uint32_t list, Stages stages, StageRests& rests);
  /// No stage takes less at its highest moment, in whatever order micro-batches run.
  quantity::Bytes least(const memory::StageWalk& walk, std::uint32_t list, Stages stages, StageRests& rests);
  /// As memory::StageWalk::highest_host().
  quantity::Bytes highest_host(const memory::StageWalk& walk, std::uint32_t list, Stages stages, StageRests& rests);

 private:
  using Needs = std::vector<memory::StageNeeds>;

  const Needs& needs(const memory::StageWalk& walk, std::uint32_t list, Stages stages, StageRests& rests);

  PerStages<Needs> needs_;
};

/// Order in which micro-batches run, and their chunks: what the passes of one do not depend on.
struct Order {
  spec::Schedule schedule = spec::Schedule::one_f_one_b;
  const StageCut* cut = nullptr;
  std::uint32_t legal = 0;  ///< a bit for each variant that it goes with
};

/// Memory that the states of a list of stages take at least, before it is said on which accelerator.
struct LeastStates {
  std::optional<quantity::Bytes> allocated;  ///< nothing where it is beyond counting
  quantity::Bytes host;
};

/// The states of a cell in steps of several micro-batches, or of one.
struct HeldStates {
  bool is_known = false;
  std::array<std::vector<memory::StepRules>, 2> rules;  ///< of each policy, by whether weights' gradients are deferred
  std::vector<StageRests> rests;                        ///< of each policy
  std::vector<LeastStates> least;                       ///< of each list of stages
};

/// One way to shard and offload the states of a pipeline.
struct Cell {
  Sharded* sharded = nullptr;
  spec::Offload offload = spec::Offload::none;
  std::vector<std::uint32_t> legal;  ///< of each recompute policy, a bit for each variant that it goes with
  std::array<HeldStates, 2> held;    ///< by whether micro-batches are added up
  /// Least memory of each micro-batch and policy, by whether sequences are split, where it is known.
  std::vector<std::array<std::optional<quantity::Bytes>, 2>> least_allocated;

  // What follows is of one accelerator.
  std::array<bool, 2> has_room{};   ///< for one sequence more, by whether micro-batches are added up
  std::optional<bool> accumulates;  ///< what follows is of steps of several micro-batches, or of one
  std::vector<bool> states_fit;     ///< of each list of stages, whether its states alone do
  quantity::Bytes least;            ///< no layout of it with as long a micro-batch or longer takes less
  /// Sequences at once up to which it is too slow, by whether they are split: of each recompute policy, then of all.
  std::vector<std::array<std::int64_t, 2>> slow_up_to;
};

/// A pipeline with micro-batches of one length.
struct PipelineOrders {
  std::int64_t layouts = 0;                  ///< of all cells
  std::array<std::vector<Order>, 2> orders;  ///< that are legal, by whether sequences are split
  double least_bubble = 0;                   ///< of any length of micro-batches, in those of a stage of mean pace

  bool are_none() const { return orders[false].empty() && orders[true].empty(); }
};

/// The layouts of a unit with one number of pipeline stages.
struct PipelineCells {
  const Pipeline* pipeline = nullptr;
  std::int64_t dp = 1;
  std::vector<program::Program> weights;  ///< of each recompute policy that has blocks of its own
  Pool<Sharded> sharded;
  Pool<Cell> cells;
  std::vector<PipelineOrders> orders;  ///< of each micro-batch
};

inline constexpr quantity::Bytes nowhere = quantity::bytes(std::numeric_limits<std::int64_t>::max());

/// One policy of recomputation, priced for all orders.
struct PricedPolicy {
  std::uint32_t recompute = 0;
  PricedProgram& program;                                   ///< of the unit's first variant
  std::array<std::optional<memory::StageWalk>, 2> walks{};  ///< by whether weights' gradients are deferred
};

/// The micro-batch that is searched, or the longest that there can be.
enum class Length { present, longest };

/// A fit that may lie inside the error bar, or one beyond it.
enum class Fit { tight, sure };

/// Every loop fixes one part of the question; the innermost composes a run. Storage is kept from unit to unit, and what
/// no accelerator changes from a unit to the same one of a base alike.
class UnitSearch {
 public:
  explicit UnitSearch(const PlanSpace& space);

  void search(const PlanUnit& unit, Keeper& keeper);

 private:
  /// Parts of the question and prices of one base.
  struct Own {
    spec::Question question;                                     ///< the run that is being put together
    std::array<std::optional<timing::KernelPrices>, 3> kernels;  ///< by CUDA graphs, as the host is part of them
    std::optional<timing::KernelPrices> long_kernels;            ///< in the longest micro-batch
  };

  void enter(std::uint32_t base);
  void list_layouts(const PlanUnit& unit);
  void forget_accelerator();
  bool cut(std::int64_t pp);
  bool take_micro_batch(std::int64_t micro_batch, std::int64_t dp);
  void list_cells(const PlanUnit& unit);
  void add_cells(PipelineCells& pipeline);
  void list_orders(PipelineCells& pipeline);
  void search_micro_batch();
  void search_pipeline(PipelineCells& pipeline);
  void search_cell(const Pipeline& pipeline, Cell& cell);
  std::int64_t layouts_of(const Cell& cell, const PipelineOrders& listed) const;
  void list_legal_orders(const Pipeline& pipeline, PipelineOrders& listed);
  const std::vector<Order>& legal_orders() const { return orders_->orders[question_.layout.sp]; }
  bool may_split_sequence(bool split) const;
  quantity::Bytes evaluate(std::uint32_t recompute, const Pipeline& pipeline);
  quantity::Bytes least_memory(const PricedPolicy& policy, const Pipeline& pipeline);
  quantity::Bytes least_allocated(const PricedPolicy& policy, const Pipeline& pipeline);
  bool are_too_slow(const Pipeline& pipeline);
  bool is_known_as_slow(std::uint32_t recompute) const;
  bool is_too_slow(std::uint32_t recompute, quantity::Bytes memory, const Pipeline& pipeline);
  quantity::Seconds least_work(std::uint32_t recompute, const Pipeline& pipeline, bool counts_experts, Length length);
  quantity::Seconds least_work_of_long(std::uint32_t recompute, const Pipeline& pipeline, bool counts_experts,
                                       std::int64_t sequences);
  template <class Time>
  quantity::Seconds least_of_dispatches(Time time);
  void compose(PricedPolicy& policy, const Pipeline& pipeline, const Order& order);
  void take_variant(const Variant& variant);
  void enter(Cell& cell);
  void prepare(const Pipeline& pipeline, Cell& cell);
  void hold_states(const Pipeline& pipeline, HeldStates& held);
  void make_rules(HeldStates& held);
  HeldStates& held() const { return cell_->held[*cell_->accumulates]; }
  bool needs_less_at_once();
  std::uint32_t legal_variants(frameworks::LooksAt what);
  void follow_sharding(Sharded& sharded);
  void make_weight_programs(PipelineCells& pipeline);
  void be_plain(const Pipeline& pipeline);
  void price_weights(const PipelineCells& pipeline, Sharded& sharded);
  void price_traffic(std::uint32_t recompute, PricedWeights& weights);
  void take(const Order& order);
  bool is_legal(frameworks::LooksAt what) const;
  LeastStates least_states(const Pipeline& pipeline, std::uint32_t list);
  bool states_fit(const LeastStates& least);
  PricedProgram& program_of(std::uint32_t recompute, const Pipeline& pipeline, Length length = Length::present);
  PricedProgram& plain_program(std::uint32_t recompute, const Pipeline& pipeline);
  memory::StageWalk stage_walk(std::uint32_t recompute, std::span<const memory::BlockWalk> walks,
                               std::span<const program::Companion> companions, bool deferred) const;
  const memory::StageWalk& walk_of(PricedPolicy& policy, bool deferred);
  quantity::Bytes needed(std::uint32_t recompute, quantity::Bytes allocated) const;
  quantity::Bytes memory_of(PricedPolicy& policy, const Pipeline& pipeline, const Order& order);
  memory::CheckpointNeeds saving_needs(PricedPolicy& policy, const Pipeline& pipeline, const Order& order);
  bool fits(quantity::Bytes memory, Fit fit) const;
  bool host_has(quantity::Bytes of_rank, quantity::Bytes of_first, Fit fit) const;
  bool host_fits(PricedPolicy& policy, const Pipeline& pipeline, const Order& order,
                 const memory::CheckpointNeeds& saving, Fit fit);
  bool may_be_surest(const PlannedRun& run) const;
  Fit wanted_fit() const { return space_.question().strict ? Fit::sure : Fit::tight; }
  const std::vector<timing::Passes>& work_of(PricedProgram& program, std::uint32_t recompute, std::uint32_t list,
                                             Stages stages);
  quantity::Seconds least_step(PricedPolicy& policy, const Pipeline& pipeline, const Order& order);
  quantity::Seconds step_time(std::size_t variant, std::uint32_t recompute, const Pipeline& pipeline,
                              const Order& order);
  /// Failures of machines: with none a run takes least.
  enum class Failures { counted, none };
  PlannedRun planned(std::uint32_t recompute, quantity::Bytes memory, quantity::Seconds step,
                     Failures failures = Failures::counted) const;
  bool is_ruled_out(std::uint32_t recompute, quantity::Bytes memory, quantity::Seconds least_step) const;
  bool is_ruled_out(quantity::Bytes memory, quantity::Seconds least_step, std::int64_t micro_batch);
  quantity::Seconds least_passes(quantity::Seconds work, std::int64_t micro_batch) const;
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
  std::vector<std::optional<Own>> own_;  ///< of each base that was entered; the present one's question is here:
  spec::Question question_;
  std::optional<PlanUnit> listed_;  ///< of which unit the layouts are listed
  std::vector<Variant> variants_;   ///< of the unit
  timing::Hides hides_;             ///< what some of them do
  std::vector<memory::BlockWalk> no_activations_;
  std::vector<PlanPrices> prices_;           ///< of each micro-batch
  PlanPrices long_prices_;                   ///< of the longest micro-batch of a unit
  std::vector<std::int64_t> micro_batches_;  ///< that are searched, in ascending order
  std::size_t length_ = 0;                   ///< of these, the present one
  std::vector<std::uint32_t> weight_slot_;   ///< of each recompute policy: those with the same blocks share one
  Pool<PipelineCells> pipelines_;
  const PipelineOrders* orders_ = nullptr;  ///< of the pipeline and micro-batch
  std::array<StagePeaks, 2> peaks_;         ///< of one policy, by whether weights' gradients are deferred
  StagePeaks least_peaks_;                  ///< of one policy, of the policy without what the allocator rounds up
  std::vector<PerStages<timing::PipelineTimes>> least_times_;  ///< of one policy, by how experts are reached
  std::vector<PerStages<timing::PipelineTimes>> times_;        ///< of one policy, of each variant
};

}  // namespace llmcalc::search
