// How a run is started in the frameworks that people use.
#pragma once

#include <string>
#include <vector>

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::dialects {

struct Launch {
  std::string framework;            ///< "Megatron-LM"
  std::string command;              ///< what to type, and the files it needs
  std::vector<std::string> beyond;  ///< of the run, what the framework does not do
};

/// Of the framework that was asked for; of the usual ones, for pre-training or for adapters, where none was. Options
/// that say how to spread and train the run, few about data. Empty where no command of the framework is known.
std::vector<Launch> launches(const spec::Question& question);

}  // namespace llmcalc::dialects
