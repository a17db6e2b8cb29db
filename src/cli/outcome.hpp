// What goes where: text for each stream and the exit code.
#pragma once

#include "llmcalc/llmcalc.hpp"

#include <string>
#include <vector>

namespace llmcalc::cli {

struct Outcome {
  std::string answer;                      ///< stdout: the answer and nothing else
  std::vector<std::string> notes = {};     ///< stderr
  std::vector<std::string> warnings = {};  ///< stderr
  ExitCode code = ExitCode::fits;
};

}  // namespace llmcalc::cli
