// Writing to the standard streams: the answer alone on stdout, everything else on stderr.
#pragma once

#include "cli/outcome.hpp"

#include <string_view>

namespace llmcalc::cli {

/// A reader that went away ends the writing, not the program: `llmcalc model list | head` is no error.
void ignore_broken_pipes();

/// \throws quantity::BadInput when stdout does not take the answer, unless nobody reads it any more
void print(const Outcome& outcome);

void print_error(std::string_view message);

}  // namespace llmcalc::cli
