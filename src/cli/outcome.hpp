// What a verb hands back: text for each stream and the exit code.
#pragma once

#include <string>
#include <vector>

namespace llmcalc::cli {

/// The exit codes of grep and diff.
enum class ExitCode { fits = 0, does_not_fit = 1, bad_question = 2 };

struct Outcome {
  std::string answer;                      ///< stdout: the answer and nothing else
  std::vector<std::string> notes = {};     ///< stderr
  std::vector<std::string> warnings = {};  ///< stderr
  ExitCode code = ExitCode::fits;
};

}  // namespace llmcalc::cli
