// What all choices of a base share, computed once before the search.
#pragma once

#include "answer/wall_clock.hpp"
#include "llmcalc/answer/plan.hpp"
#include "llmcalc/program/profile.hpp"
#include "llmcalc/timing/network.hpp"

#include <vector>

namespace llmcalc::answer {

/// One way to cut the layers into stages.
struct Cut {
  std::int64_t vpp = 1;
  std::vector<std::vector<program::StageGroup>> stages;  ///< for each recompute policy
};

/// The cuts of one number of pipeline stages.
struct Pipeline {
  std::int64_t pp = 1;
  std::vector<Cut> cuts;
};

struct PlanSpace::Base {
  spec::Question question;                ///< without a layout
  std::vector<program::Profile> profile;  ///< for each recompute policy
  std::vector<Pipeline> pipelines;
  timing::Links links;
  quantity::Bytes capacity;
  double steps = 0;                                ///< of the whole run
  std::optional<WallClock> clock;                  ///< where something is trained
  std::optional<quantity::Money> dollars_an_hour;  ///< of all accelerators
  std::optional<quantity::Power> power;            ///< of all accelerators, with servers and building
};

}  // namespace llmcalc::answer
