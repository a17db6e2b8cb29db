// Writing to the standard streams: the answer alone on stdout, everything else on stderr.
#pragma once

#include "cli/outcome.hpp"

#include <string_view>

namespace llmcalc::cli {

/// A reader that went away is an error that write() reports, not a signal that ends the program.
void ignore_broken_pipes();

/// \throws quantity::BadInput when stdout does not take the answer
void print(const Outcome& outcome);

void print_error(std::string_view message);

}  // namespace llmcalc::cli
