// The choices of a search that a command of the framework can start.
#pragma once

#include "search/plan.hpp"

#include <tuple>
#include <vector>

namespace llmcalc::api {

/// Abilities of commands, asked once of runs alike: they follow neither the accelerator nor how many there are, but
/// that there are several.
class Startable {
 public:
  /// Leaves out layouts that no command of the run's framework could start.
  void narrow(search::PlanQuestion& question);

 private:
  /// Framework, whether there are several accelerators, and method.
  using Kind = std::tuple<spec::Framework, bool, spec::Method>;

  struct Known {
    Kind kind;
    std::vector<spec::Sharding> shardings;  ///< empty: all, and so of offloads
    std::vector<spec::Offload> offloads;
    std::vector<spec::RecomputePolicy> recomputes;
  };

  const Known& of(const spec::Question& base);

  std::vector<Known> known_;
};

}  // namespace llmcalc::api
