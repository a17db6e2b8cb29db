// Parameters, tokens, compute and time, each from the others.
#pragma once

#include "llmcalc/answer/scaling.hpp"

#include <string>
#include <string_view>

namespace llmcalc::render {

/// \param explain  formula, numbers and source under every line
std::string to_text(const answer::ScaleAnswer& answer, bool explain);
std::string to_json(const answer::ScaleAnswer& answer, std::string_view version);

}  // namespace llmcalc::render
