// Parameters, tokens, compute, time, money and loss, each from the others.
#pragma once

#include "laws/scaling.hpp"
#include "llmcalc/render/report.hpp"

#include <string>
#include <string_view>

namespace llmcalc::render {

std::string to_text(const laws::ScaleAnswer& answer, const TextStyle& style);
std::string to_json(const laws::ScaleAnswer& answer, std::string_view version);

}  // namespace llmcalc::render
