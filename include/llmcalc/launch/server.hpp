// The command that starts a server.
#pragma once

#include "llmcalc/serving/engine.hpp"

#include <string>
#include <string_view>

namespace llmcalc::launch {

/// With the options that were said and the length of context that is answered for; empty where there is none to type.
/// \param model  its id or the path of its file
std::string server_command(const serving::Deployment& deployment, std::string_view model);

}  // namespace llmcalc::launch
