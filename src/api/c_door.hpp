// The interface for other languages, over any surroundings: strings in, JSON out.
#pragma once

#include "api/surroundings.hpp"
#include "llmcalc/llmcalc.h"

#include <string_view>
#include <vector>

namespace llmcalc::api {

/// The words in a JSON object of options without their dashes; what belongs to no option is in a list "names".
/// \throws quantity::BadInput at the member that is none
std::vector<Word> words_of_object(std::string_view question);

/// \pre the argument outlives what is returned
Outside outside_of(const llmcalc_outside* given);

/// llmcalc_ask over any surroundings.
int answer_in_c(const char* verb, const char* question, const Surroundings& around, char** answer) noexcept;

/// A command line as people type it, answered likewise: a JSON list of the words behind "llmcalc".
int answer_line_in_c(const char* line, const Surroundings& around, char** answer) noexcept;

}  // namespace llmcalc::api
