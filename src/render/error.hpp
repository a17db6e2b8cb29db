// A question that could not be answered, for programs.
#pragma once

#include "llmcalc/quantity/error.hpp"

#include <string>
#include <string_view>

namespace llmcalc::render {

/// {"kind": "error", "place", "problem", "hint"}; the hint is null where there is none.
std::string to_json(const quantity::BadInput& error, std::string_view version);

}  // namespace llmcalc::render
