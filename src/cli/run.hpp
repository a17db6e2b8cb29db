// From the words of the command line to the outcome, without touching a stream.
#pragma once

#include "cli/environment.hpp"
#include "cli/outcome.hpp"

#include <span>
#include <string>

namespace llmcalc::cli {

/// \throws quantity::BadInput, quantity::Overflow when the question cannot be answered
Outcome run(std::span<const std::string> words, const Environment& environment);

}  // namespace llmcalc::cli
