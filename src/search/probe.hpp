// The shortest way from a question to its verdict: one walk, no ledger, no words.
#pragma once

#include "llmcalc/answer/verdict.hpp"
#include "llmcalc/spec/question.hpp"
#include "program/program.hpp"

#include <optional>

namespace llmcalc::search {

/// Keeps the storage of the program between questions, because a search asks hundreds.
class Probe {
 public:
  /// What must fit; empty where nothing can be said of them, as beyond what can be counted: the question is not
  /// the one that was asked, so no mistake in it may end the answer.
  std::optional<trust::Need> need(const spec::Question& question);

 private:
  program::Program program_;
};

}  // namespace llmcalc::search
