// How a run is operated: what fails and is saved around its steps, and the electricity they take. Nothing here changes
// a step.
#pragma once

#include "llmcalc/quantity/energy.hpp"
#include "llmcalc/quantity/quantity.hpp"

#include <optional>
#include <string_view>

namespace llmcalc::spec {

/// Failures and what is done against them; what nobody says, the time walk knows (timing/goodput.hpp).
struct Reliability {
  /// Mean time between failures of one accelerator with its share of the node; infinite: none fails.
  std::optional<quantity::Seconds> mtbf;
  std::optional<quantity::Seconds> checkpoint_interval;     ///< of training between two checkpoints; empty: the best
  std::optional<quantity::Bandwidth> checkpoint_bandwidth;  ///< of all ranks together to storage
  std::optional<quantity::Seconds> restart_time;            ///< from a failure to the next step

  /// Somebody wants to know.
  bool stated() const { return mtbf || checkpoint_interval || checkpoint_bandwidth || restart_time; }
};

/// Of the world's electricity, from the mine to the grid. The next year's review makes it 471 (ember-energy.org).
inline constexpr quantity::CarbonIntensity world_carbon_intensity = quantity::grams_per_kilowatt_hour(473.0);
inline constexpr std::string_view world_carbon_source = "world mean of 2024 (Ember, Global Electricity Review 2025)";

struct Electricity {
  std::optional<quantity::Power> power;  ///< --power: mean of one accelerator with its share of the server
  std::optional<double> pue;             ///< what the building draws over what its servers draw
  std::optional<quantity::CarbonIntensity> carbon_intensity;
};

}  // namespace llmcalc::spec
