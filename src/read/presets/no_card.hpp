// What people name in the place of an accelerator.
#pragma once

#include <string>
#include <string_view>

namespace llmcalc::read {

/// What to say instead; empty for any other name.
std::string hint_for_card(std::string_view name);

}  // namespace llmcalc::read
