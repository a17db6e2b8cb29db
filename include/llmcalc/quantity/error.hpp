// The one exception that a user's mistake becomes, wherever it is found.
#pragma once

#include <stdexcept>
#include <string>

namespace llmcalc::quantity {

/// Thrown for anything the person who asked can mend: a word we do not know, a number we cannot read, a
/// combination that is not legal. The command line turns it into exit code 2 and prints nothing on stdout.
class BadInput : public std::runtime_error {
 public:
  /// \param place    where the mistake is: "--gpu", "config.json:/num_hidden_layers", "runs.csv:12:seq"
  /// \param problem  a sentence with the offending value and what was expected
  /// \param hint     the nearest valid name or the next step; empty if there is none
  BadInput(std::string place, std::string problem, std::string hint = {});

  const std::string& place() const noexcept { return place_; }
  const std::string& problem() const noexcept { return problem_; }
  const std::string& hint() const noexcept { return hint_; }

 private:
  std::string place_;
  std::string problem_;
  std::string hint_;
};

}  // namespace llmcalc::quantity
