// Python is a program and no file of settings: it is refused, with the command to type instead.
#pragma once

#include <string_view>

namespace llmcalc::dialects {

/// \throws quantity::BadInput where the text is Python, whose hint is made of what stands in it as plain numbers
void refuse_python(std::string_view text, std::string_view place);

}  // namespace llmcalc::dialects
