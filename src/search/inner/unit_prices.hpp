// What the layouts of a search unit share, each part made when it is first needed.
#pragma once

#include "memory/block_prices.hpp"
#include "memory/stage_walk.hpp"
#include "program/build.hpp"
#include "search/inner/plan_units.hpp"
#include "timing/step_time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace llmcalc::search {

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

/// What is known of each list of stages of a pipeline, made when it is first asked for.
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

/// What the operations of a program depend on beside the unit.
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

/// A program and the time of its blocks.
struct PricedProgram {
  ProgramKey key;
  program::Program program;
  std::vector<timing::BlockTime> times;
  std::optional<quantity::Seconds> least_work;       ///< of one micro-batch, on all stages together
  PerStages<std::vector<timing::StagePasses>> work;  ///< of the pipeline's lists of stages
};

/// Its blocks' memory under one way of making gradients.
struct PricedWalks {
  const PricedProgram* of = nullptr;
  memory::WeightGradients gradients;
  bool counts_slack = false;
  std::vector<memory::BlockWalk> walks;
};

/// The block prices of one micro-batch of a unit.
class PlanPrices {
 public:
  void clear();

  /// What follows is about another pipeline.
  void enter(std::size_t lists);

  PricedProgram& program(const ProgramKey& key, const spec::Question& question, const frameworks::Profile& profile,
                         const timing::Prices& prices);
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
  std::vector<timing::WeightTraffic> traffic;
  std::vector<timing::DataTraffic> exchanges;  ///< of each block, where its weights are gathered
  PerStages<std::vector<timing::StageTraffic>> stages;
};

/// One way to shard the states of a pipeline.
struct Sharded {
  spec::Sharding sharding = spec::Sharding::none;
  std::size_t first_profile = 0;  ///< of the base's, those of the gradients that the sharding asks for
  std::optional<timing::Network> network;
  quantity::Bytes communicators;
  std::vector<PricedWeights> weights;  ///< of each recompute policy that has blocks of its own
};

/// What the states of stages take, each priced once for all activations.
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

/// One way to shard and offload the states of a pipeline.
struct Cell {
  Sharded* sharded = nullptr;
  spec::Offload offload = spec::Offload::none;
  std::array<bool, 2> has_room{};    ///< for one sequence more, by whether micro-batches are added up
  std::optional<bool> accumulates;   ///< what follows is of steps of several micro-batches, or of one
  std::vector<std::uint32_t> legal;  ///< of each recompute policy, a bit for each variant that it goes with
  std::vector<bool> states_fit;      ///< of each list of stages, whether its states alone do
  quantity::Bytes least;             ///< no layout of it with as long a micro-batch or longer takes less
  std::array<std::vector<memory::StepRules>, 2> rules;  ///< of each policy, by whether weights' gradients are deferred
  std::vector<StageRests> rests;                        ///< of each policy
};

/// The layouts of a unit with one number of pipeline stages.
struct PipelineCells {
  const Pipeline* pipeline = nullptr;
  std::int64_t dp = 1;
  std::vector<program::Program> weights;  ///< of each recompute policy that has blocks of its own
  Pool<Sharded> sharded;
  Pool<Cell> cells;
};

}  // namespace llmcalc::search
