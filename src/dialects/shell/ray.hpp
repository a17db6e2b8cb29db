// Ray Serve's configurations (ray.serve.llm, RayService): servers whose options stand in a file, not in a command.
#pragma once

#include "dialects/core/names.hpp"
#include "dialects/shell/command.hpp"
#include "read/node.hpp"

#include <string_view>
#include <vector>

namespace llmcalc::dialects {

/// The servers that a configuration of Ray Serve starts, by itself or inside a RayService; none where it is neither.
std::vector<LaunchCommand> ray_launches(const Node& file, std::string_view place);

}  // namespace llmcalc::dialects
