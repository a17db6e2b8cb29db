// By which names a preset is found.
#pragma once

#include <string_view>
#include <vector>

namespace llmcalc::read {

/// Equal without regard to the case of ASCII letters.
bool same_name(std::string_view a, std::string_view b);

/// "Meta-Llama-3-8B" of "meta-llama/Meta-Llama-3-8B".
std::string_view without_organisation(std::string_view hf_id);

/// The items of a list that is joined by '|'.
std::vector<std::string_view> split_aliases(std::string_view joined);

/// Every name that leads to one preset.
struct PresetNames {
  std::string_view id;
  std::vector<std::string_view> aliases;
  std::string_view hf_id;

  bool contains(std::string_view name) const;
  void append_to(std::vector<std::string_view>& names) const;
};

}  // namespace llmcalc::read
