// The question as it was understood, in JSON: an object a term.
#pragma once

#include "llmcalc/render/report.hpp"
#include "render/inner/json_values.hpp"

#include <vector>

namespace llmcalc::render {

Json question_json(const std::vector<EchoLine>& lines);

}  // namespace llmcalc::render
