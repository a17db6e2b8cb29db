// The effective question in the words of renderers.
#pragma once

#include "llmcalc/read/given.hpp"
#include "llmcalc/render/report.hpp"

#include <vector>

namespace llmcalc::api {

std::vector<render::EchoLine> echo_lines(std::vector<read::Echo> echo);

}  // namespace llmcalc::api
