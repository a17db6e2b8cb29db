// What the stages of a pipeline need and take, walked when it is first asked and kept for all orders of micro-batches.
#pragma once

#include "llmcalc/memory/stage_walk.hpp"
#include "llmcalc/timing/step_time.hpp"
#include "search/plan_space.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace llmcalc::search {

/// For each list of stages of a pipeline what a walk over it gives. Storage is kept.
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

using Stages = std::span<const program::StageGroup>;

/// The highest moment of any of these stages, each walked once for all orders.
class StagePeaks {
 public:
  void clear(std::size_t lists) { needs_.clear(lists); }
  quantity::Bytes worst(const memory::StageWalk& walk, std::uint32_t list, Stages stages);

 private:
  PerStages<std::vector<memory::StageNeeds>> needs_;
};

}  // namespace llmcalc::search
