// Many questions in one call: accelerators between commas, or the rows of a file.
#pragma once

#include "cli/arguments.hpp"
#include "cli/outcome.hpp"
#include "cli/question.hpp"
#include "read/given.hpp"
#include "read/presets.hpp"

#include <vector>

namespace llmcalc::cli {

/// Whether these words ask more than one question, or a form of the answer has a line for each.
bool asks_many(const Arguments& arguments, const std::vector<read::Given>& words);

/// A line each; exit 2 where one has no answer, 1 where one does not fit.
Outcome fit_many(const Arguments& arguments, const AskedQuestion& asked, const read::Catalogue& catalogue);

}  // namespace llmcalc::cli
