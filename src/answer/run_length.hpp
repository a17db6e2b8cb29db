// How much data a run sees, and what its accelerators draw meanwhile.
#pragma once

#include "llmcalc/answer/operation.hpp"
#include "llmcalc/spec/question.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace llmcalc::answer {

/// How much data the run sees.
struct Budget {
  quantity::Tokens tokens;
  std::string source;
  std::int64_t length = 0;  ///< tokens of a sequence: of --seq, or of a sample that has one to itself

  /// Optimizer steps that see all of it.
  double steps(const spec::Training& training) const {
    return in_tokens(tokens) / (static_cast<double>(training.global_batch) * static_cast<double>(length));
  }
};

/// As said; by default 20 tokens a parameter.
Budget token_budget(const spec::Question& question, std::int64_t parameters);

/// A warning of fewer tokens than anybody pre-trains with who means it; empty where there are enough.
std::optional<std::string> too_few_tokens(quantity::Tokens tokens);

/// Empty where neither the person nor the preset knows the accelerator's power.
std::optional<Footprint> footprint(const spec::Question& question, double gpu_hours);

}  // namespace llmcalc::answer
