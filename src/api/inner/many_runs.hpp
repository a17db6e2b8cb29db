// Many questions in one call: accelerators between commas, or the rows of a file.
#pragma once

#include "api/asked.hpp"

#include <vector>

namespace llmcalc::api {

/// Whether these words ask more than one question, or a form of the answer has a line for each.
bool asks_many(const Arguments& arguments, const std::vector<read::Given>& words);

/// A line each; exit 2 where one has no answer, 1 where one does not fit.
Reply fit_many(const Arguments& arguments, const AskedQuestion& asked, const Sources& sources);

}  // namespace llmcalc::api
