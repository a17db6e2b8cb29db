// Files of a model itself among the things that a person may name: its config.json, the adapter_config.json of peft.
#pragma once

#include "dialects/core/names.hpp"
#include "dialects/reading.hpp"
#include "read/node.hpp"

#include <optional>
#include <string_view>

namespace llmcalc::dialects {

/// \param text  what `file` was parsed from
std::optional<Reading> model_file(const Node& file, std::string_view text, std::string_view place);

}  // namespace llmcalc::dialects
