// What a person should know beside the numbers.
#pragma once

#include "serving/answer.hpp"

namespace llmcalc::serving {

std::vector<std::string> notes_on(const ServingAnswer& answer);

/// Whether what stays in host memory is multiplied there.
bool uses_processor(const spec::Question& question);

}  // namespace llmcalc::serving
