// Predictions against measurements as text, Markdown and JSON.
#pragma once

#include "trust/validation.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::render {

/// The rows, the summary by group, the verdicts, and what was skipped and why.
std::string to_text(const trust::Validation& validation);

/// The summary, the verdicts, what was skipped, and the rows that are furthest off, for docs/accuracy.md; empty when
/// there were no rows at all.
std::string to_markdown(const trust::Validation& validation);

/// One JSON object; docs/json.md, kind "validate".
std::string to_json(const trust::Validation& validation, std::string_view version);

/// The file that --calibration reads.
std::string to_calibration(const std::vector<trust::OwnBias>& biases, std::string_view version);

}  // namespace llmcalc::render
