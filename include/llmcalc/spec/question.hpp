// Everything a person asked, as one plain value: model, training, layout, accelerator, and what to price.
#pragma once

#include "llmcalc/quantity/energy.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/accelerator.hpp"
#include "llmcalc/spec/layout.hpp"
#include "llmcalc/spec/measured_here.hpp"
#include "llmcalc/spec/model.hpp"
#include "llmcalc/spec/serving.hpp"
#include "llmcalc/spec/training.hpp"

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

/// Carbon of the world's electricity, from the mine to the grid. The next year's review makes it 471
/// (ember-energy.org).
inline constexpr quantity::CarbonIntensity world_carbon_intensity = quantity::grams_per_kilowatt_hour(473.0);
inline constexpr std::string_view world_carbon_source = "world mean of 2024 (Ember, Global Electricity Review 2025)";

struct Electricity {
  std::optional<quantity::Power> power;  ///< --power: mean of one accelerator with its share of the server
  std::optional<double> pue;             ///< what the building draws over what its servers draw
  std::optional<quantity::CarbonIntensity> carbon_intensity;
};

/// How much data the run sees. At most one of the first four says it; 20 tokens a parameter where none does.
struct DataBudget {
  std::optional<quantity::Tokens> tokens;      ///< --tokens 300B
  std::optional<double> tokens_per_parameter;  ///< --tokens 20x (Hoffmann et al. 2022)
  std::optional<double> samples;
  std::optional<double> steps;          ///< optimizer steps
  double epochs = 1.0;                  ///< how often each sample is seen
  std::optional<double> sample_tokens;  ///< of a sample in the mean; otherwise each fills its sequence
  bool packing = false;                 ///< samples lie end to end in sequences, instead of one in each
};

/// Values that are properties not of the run but of the answer.
struct Pricing {
  DataBudget data;
  std::optional<double> mfu;                      ///< --mfu; otherwise the accelerator's measured default
  std::optional<quantity::Money> price_per_hour;  ///< --price per accelerator and hour
  std::optional<quantity::Bytes> memory;          ///< --memory: capacity instead of the preset's usable bytes
  std::optional<quantity::Bytes> host_memory;     ///< --host-memory: of one machine
};

/// Which rank the answer is about. Ranks of one pipeline stage are alike.
struct RankChoice {
  enum class Kind { max, first, last, stage };
  Kind kind = Kind::max;   ///< max: the stage that peaks highest
  std::int64_t stage = 0;  ///< where kind is stage
};

struct Question {
  Model model;
  /// --params: the number that is counted instead of the assumed shape's own.
  std::optional<quantity::Parameters> stated_parameters;
  Training training;
  Serving serving;  ///< in the place of training, where it is asked about a server
  Layout layout;
  std::optional<Accelerator> gpu;  ///< without one there is no verdict and no time, only bytes and FLOPs
  Pricing pricing;
  Reliability reliability;
  Electricity electricity;
  Runtime runtime;
  Calibration calibration;
  RankChoice rank;
};

}  // namespace llmcalc::spec
