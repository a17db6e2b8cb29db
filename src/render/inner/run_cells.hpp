// The cells of a line about one run, which all tables of runs share.
#pragma once

#include "render/runs.hpp"

#include <string>
#include <vector>

namespace llmcalc::render {

std::vector<std::string> run_heads();
std::vector<std::string> run_cells(const RunLine& line);

/// "does not fit", or "error" where the question has no answer.
std::string verdict_of(const RunLine& line);

}  // namespace llmcalc::render
