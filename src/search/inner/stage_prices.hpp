// What the stages of a pipeline need and take, walked when it is first asked and kept for all orders of micro-batches.
#pragma once

#include "memory/stage_walk.hpp"
#include "search/inner/per_stages.hpp"
#include "search/inner/plan_space.hpp"
#include "timing/step_time.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace llmcalc::search {

using Stages = std::span<const program::StageGroup>;

/// What the states of stages take, each priced once for all activations.
class StageRests {
 public:
  void clear(std::size_t lists) { rests_.clear(lists); }
  const std::vector<memory::StageRest>& get(const memory::StageWalk& walk, std::uint32_t list, Stages stages);

 private:
  PerStages<std::vector<memory::StageRest>> rests_;
};

/// No stage of a pipeline takes less at its highest moment, in whatever order micro-batches run.
quantity::Bytes least_peak(const memory::StageWalk& walk, std::uint32_t list, Stages stages, StageRests& rests);

/// The highest moment of any of these stages, each walked once for all orders.
class StagePeaks {
 public:
  void clear(std::size_t lists) { needs_.clear(lists); }
  quantity::Bytes worst(const memory::StageWalk& walk, std::uint32_t list, Stages stages, StageRests& rests);
  /// As memory::StageWalk::highest_host().
  quantity::Bytes highest_host(const memory::StageWalk& walk, std::uint32_t list, Stages stages, StageRests& rests);

 private:
  using Needs = std::vector<memory::StageNeeds>;

  const Needs& needs(const memory::StageWalk& walk, std::uint32_t list, Stages stages, StageRests& rests);

  PerStages<Needs> needs_;
};

}  // namespace llmcalc::search
