// What is said of a changed run: the terms that change, what they do, what they cost.
#pragma once

#include "search/inner/changes.hpp"

#include <string_view>
#include <vector>

namespace llmcalc::search {

/// Appends to the words of a run that may have been changed before; of a term the last value counts.
void say(Changed& run, const std::vector<ChangedTerm>& terms, std::string_view change, std::string_view cost);

}  // namespace llmcalc::search
