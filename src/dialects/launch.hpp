// How a run is started in the frameworks that people use.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::dialects {

struct Launch {
  std::string framework;            ///< "Megatron-LM"
  std::string command;              ///< what to type, after the files it needs; empty where it would start another run
  std::vector<std::string> beyond;  ///< options of the run that these files and options do not say
};

/// Of the framework of the question: options that say how to spread and train the run, few about data. Read back it is
/// the same run. Empty where no command of the framework is known.
std::vector<Launch> launches(const spec::Question& question);

/// Names and texts of the files that a launch writes, and of run.sh, which starts it beside them; none where it has no
/// command.
std::vector<std::pair<std::string, std::string>> files_of(const Launch& launch);

}  // namespace llmcalc::dialects
