// How a run is started in the frameworks that people use.
#pragma once

#include "llmcalc/spec/question.hpp"

#include <string>
#include <vector>

namespace llmcalc::launch {

struct Launch {
  std::string framework;            ///< "Megatron-LM"
  std::string command;              ///< what to type, and the files it needs
  std::vector<std::string> beyond;  ///< of the run, what the framework does not do
};

/// Megatron-LM, torchtitan and DeepSpeed; options that say how to spread and train the run, none about data.
std::vector<Launch> launches(const spec::Question& question);

}  // namespace llmcalc::launch
