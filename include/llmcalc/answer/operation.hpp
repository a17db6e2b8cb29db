// What a run takes beyond its steps: failures and checkpoints, electricity and carbon.
#pragma once

#include "llmcalc/quantity/energy.hpp"
#include "llmcalc/quantity/quantity.hpp"

#include <string>

namespace llmcalc::answer {

/// How a number came about, for --explain.
struct Explanation {
  std::string formula;  ///< "parameters x bytes of bf16"
  std::string numbers;  ///< "8,030,261,248 x 2 B"
  std::string source;   ///< paper and equation, framework file, or "measured: ..."
};

/// How much of a run's time makes progress that lasts.
struct Goodput {
  double share = 1.0;   ///< useful over wall time; 0: failures come faster than the run can restart
  bool stated = false;  ///< the person said something about failures or checkpoints
  quantity::Bytes checkpoint;
  quantity::Seconds save;      ///< one checkpoint
  quantity::Seconds interval;  ///< training between two
  quantity::Seconds restart;
  quantity::Seconds mtbf;  ///< of the whole run; infinite: nothing fails
  double failures = 0.0;   ///< expected until the run is done
  Explanation why;

  bool makes_progress() const { return share > 0.0; }
};

struct Footprint {
  quantity::Power power;  ///< mean of one accelerator with its share of the server
  double pue = 1.0;
  quantity::Energy energy;  ///< of the whole run, building included
  Explanation why_energy;
  quantity::CarbonIntensity intensity;
  std::string intensity_source;
  quantity::Mass carbon;
  Explanation why_carbon;
};

}  // namespace llmcalc::answer
