// Ray Serve's configurations (ray.serve.llm, RayService): servers whose options stand in a file, not in a command.
#pragma once

#include "read/settings/node.hpp"
#include "read/shell/command.hpp"

#include <string_view>
#include <vector>

namespace llmcalc::read {

/// The servers that a configuration of Ray Serve starts, by itself or inside a RayService; none where it is neither.
std::vector<LaunchCommand> ray_launches(const Node& file, std::string_view place);

}  // namespace llmcalc::read
