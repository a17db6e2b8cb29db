// From the words of the command line to the outcome, without touching a stream.
#pragma once

#include "cli/environment.hpp"
#include "cli/outcome.hpp"

#include <span>
#include <string>
#include <vector>

namespace llmcalc::cli {

/// The words with short and customary options in full: "--format json" for "--json", "--quiet" for "-q".
std::vector<std::string> spelled_out(std::span<const std::string> words);

/// \throws quantity::BadInput, quantity::Overflow when the question cannot be answered
Outcome run(std::span<const std::string> words, const Environment& environment);

}  // namespace llmcalc::cli
