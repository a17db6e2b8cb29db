// The command that starts a server.
#pragma once

#include "llmcalc/formats/quant.hpp"
#include "serving/engine.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace llmcalc::dialects {

/// Models by their ids.
struct ServedNames {
  std::string
      model;  ///< as it was asked for: "owner/name", "owner/name-GGUF:Q4_K_M", "llama3.1:8b", or no name of a place
  std::string repository;                           ///< "owner/name", where the preset that it means is published
  formats::Quant published = formats::Quant::bf16;  ///< in which the model's weights are found under that id
  std::string draft;                                ///< where a model of its own proposes tokens

  /// The Hub's repository: the one that was asked for, or the preset's.
  const std::string& weights() const { return model.find('/') != std::string::npos ? model : repository; }
};

/// How a server is started. Read back it is the same server.
struct ServerCommand {
  std::string text;                ///< after the file that it reads where it needs one; empty where none says it all
  std::vector<std::string> notes;  ///< what whoever types it has to know: names that stand for others, further machines
  std::int64_t servers = 1;        ///< that are started so, each on accelerators of its own
};

/// With the options that were said and the length of context that is answered for.
ServerCommand server_command(const serving::Deployment& deployment, const ServedNames& names);

}  // namespace llmcalc::dialects
