// The command that starts a server.
#pragma once

#include "llmcalc/formats/quant.hpp"
#include "serving/engine.hpp"

#include <string>

namespace llmcalc::dialects {

/// Models by their ids, or the paths of their files.
struct ServedNames {
  std::string model;
  formats::Quant published = formats::Quant::bf16;  ///< in which the model's weights are found under that id
  std::string draft;                                ///< where a model of its own proposes tokens
};

/// With the options that were said and the length of context that is answered for, after the file that it reads where
/// it needs one; empty where there is none to type.
std::string server_command(const serving::Deployment& deployment, const ServedNames& names);

}  // namespace llmcalc::dialects
