// Colours of the text answer.
#pragma once

#include "llmcalc/render/report.hpp"

#include <string>
#include <string_view>

namespace llmcalc::render {

enum class Ink { heading, dim, good, caution, bad };

/// `text` in that ink, or as it is when the style has no colour.
std::string paint(std::string_view text, Ink ink, const TextStyle& style);

}  // namespace llmcalc::render
