// Ollama's Modelfile (ollama docs/modelfile.md): an instruction a line, texts over several lines in three quotes.
#pragma once

#include "dialects/core/names.hpp"
#include "read/settings.hpp"

#include <optional>
#include <string_view>

namespace llmcalc::dialects {

/// Empty where the text is none: it begins with an instruction, and one of them is FROM.
std::optional<Settings> parse_modelfile(std::string_view text, std::string_view place);

}  // namespace llmcalc::dialects
