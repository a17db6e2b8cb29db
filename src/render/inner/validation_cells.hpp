// The cells of the tables that text and Markdown show of a validation.
#pragma once

#include "trust/validation.hpp"

#include <string>
#include <vector>

namespace llmcalc::render {

using Cells = std::vector<std::string>;

Cells row_header();
Cells row_cells(const trust::Comparison& row);

Cells summary_header();
/// One row for all, and one a group.
std::vector<Cells> summary_rows(const trust::Validation& validation);

/// "12 true fits, 0 false fits, 3 true misses, 1 false miss (run-7)"
std::string verdict_sentence(const std::vector<trust::JudgedRun>& runs);

/// "2: model: no model is called 'x' (first in runs.csv:7)"
std::string skipped_sentence(const trust::Skipped& skipped);

}  // namespace llmcalc::render
