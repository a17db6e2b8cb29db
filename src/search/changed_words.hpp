// What is said of a changed run: the options to type, what they do, what they cost.
#pragma once

#include "search/changes.hpp"

#include <string_view>

namespace llmcalc::search {

/// Appends to the words of a run that may have been changed before.
void say(Changed& run, std::string_view flag, std::string_view change, std::string_view cost);

}  // namespace llmcalc::search
