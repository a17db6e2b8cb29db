// What the verbs that show presets have in common: `list`, or `show NAME`.
#pragma once

#include "cli/arguments.hpp"

#include <string>

namespace llmcalc::cli {

struct PresetOptions {
  std::string name;  ///< empty: all
  bool json = false;
};

PresetOptions setup_preset_verb(const Arguments& arguments);

}  // namespace llmcalc::cli
