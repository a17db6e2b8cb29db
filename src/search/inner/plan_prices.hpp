// The block prices of one search unit, each made when it is first needed.
#pragma once

#include "memory/block_prices.hpp"
#include "program/build.hpp"
#include "search/inner/per_stages.hpp"
#include "search/plan.hpp"
#include "timing/step_time.hpp"

#include <cstddef>
#include <deque>
#include <vector>

namespace llmcalc::search {

/// What the operations of a program depend on beside the unit.
struct ProgramKey {
  std::uint32_t profile = 0;  ///< of the base's
  bool sp = false;
  std::uint32_t blocks = 0;    ///< of the pipeline
  bool casts = false;          ///< weights are cast at each use: sharded ones arrive in the narrow type
  std::int64_t generated = 0;  ///< micro-batches whose samples are made at once

  friend bool operator==(const ProgramKey&, const ProgramKey&) = default;
};

/// A program and the time of its blocks.
struct PricedProgram {
  ProgramKey key;
  program::Program program;
  std::vector<timing::BlockTime> times;
  PerStages<std::vector<timing::StagePasses>> work;  ///< of the pipeline's lists of stages
};

/// Its blocks' memory under one way of making gradients.
struct PricedWalks {
  const PricedProgram* of = nullptr;
  memory::WeightGradients gradients;
  std::vector<memory::BlockWalk> walks;
};

/// Keeps its storage from unit to unit. References stay valid within a unit.
class PlanPrices {
 public:
  void clear() { programs_ = walks_ = 0; }

  /// What follows is about another pipeline.
  void enter(std::size_t lists);

  PricedProgram& program(const ProgramKey& key, const spec::Question& question, const frameworks::Profile& profile,
                         const timing::Prices& prices);
  const PricedWalks& walks(const PricedProgram& program, const memory::StepRules& rules);

 private:
  std::size_t programs_ = 0;
  std::size_t walks_ = 0;
  std::size_t lists_ = 0;  ///< of stages
  std::deque<PricedProgram> program_store_;
  std::deque<PricedWalks> walk_store_;
};

}  // namespace llmcalc::search
