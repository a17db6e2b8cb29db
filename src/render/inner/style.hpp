// Colours of the text answer.
#pragma once

#include "llmcalc/render/report.hpp"

#include <string>
#include <string_view>

namespace llmcalc::render {

enum class Ink { heading, dim, good, caution, bad };

/// `text` in that ink, or as it is when the style has no colour.
std::string paint(std::string_view text, Ink ink, const TextStyle& style);

/// The code with which `text` begins, one of those that `paint` writes; empty where it begins with none.
std::string_view colour_at(std::string_view text);

}  // namespace llmcalc::render
