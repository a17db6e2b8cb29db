// Writing to the standard streams: the answer alone on stdout, everything else on stderr.
#pragma once

#include "cli/outcome.hpp"
#include "llmcalc/quantity/error.hpp"

#include <span>
#include <string>
#include <string_view>

namespace llmcalc::cli {

/// A reader that went away ends the writing, not the program: `llmcalc model list | head` is no error.
void ignore_broken_pipes();

/// \throws quantity::BadInput when stdout does not take the answer, unless nobody reads it any more
void print(const Outcome& outcome);

void print_error(std::string_view message);

/// The same, and where the words ask for JSON an object on stdout, so that whoever parses it finds out why.
void print_error(const quantity::BadInput& error, std::span<const std::string> words);

}  // namespace llmcalc::cli
