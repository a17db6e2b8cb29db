// What somebody may have meant who says a name that no preset has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

/// A preset and all that it is called.
struct KnownPreset {
  std::string_view id;
  std::vector<std::string_view> names;
};

/// "which of a, b and c?" where the name is a part of theirs, "did you mean 'a'?" where it is near; or empty.
std::string hint_for_name(const std::vector<KnownPreset>& presets, std::string_view name);

}  // namespace llmcalc::read
