// The key `time` of a fit answer (docs/json.md).
#pragma once

#include "llmcalc/answer/estimate.hpp"
#include "render/inner/json_values.hpp"

namespace llmcalc::render {

Json time_json(const answer::Estimate& estimate);

}  // namespace llmcalc::render
