// The time of a step for programs.
#pragma once

#include "llmcalc/answer/estimate.hpp"
#include "render/json_values.hpp"

namespace llmcalc::render {

/// "step_parts": where the step goes, longest first.
Json step_parts_json(const answer::TimeAnswer& time);

}  // namespace llmcalc::render
