// Files of a model itself among the things that a person may name: its config.json, the adapter_config.json of peft.
#pragma once

#include "read/launch.hpp"
#include "read/settings/node.hpp"

#include <optional>
#include <string_view>

namespace llmcalc::read {

/// \param text  what `file` was parsed from
std::optional<Reading> model_file(const Node& file, std::string_view text, std::string_view place);

}  // namespace llmcalc::read
