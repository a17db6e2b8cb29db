// How a run is started in the frameworks that people use.
#pragma once

#include "llmcalc/formats/quant.hpp"
#include "serving/engine.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::dialects {

struct Launch {
  std::string framework;            ///< "Megatron-LM"
  std::string command;              ///< what to type, after the files it needs; empty where it would start another run
  std::vector<std::string> beyond;  ///< options of the run that these files and options do not say
};

/// A launch of the question's framework: options that say how to spread and train the run, few about data. Read back it
/// is the same run. Empty where no command of the framework is known.
/// \param model  the Hub's id of it, or what stands for one
std::vector<Launch> launches(const spec::Question& question, const std::string& model = "$MODEL");

/// Names and texts of the files that a launch writes, and of run.sh, which starts it beside them; none where it has no
/// command.
std::vector<std::pair<std::string, std::string>> files_of(const Launch& launch);

// The command that starts a server.

/// Models by their ids.
struct ServedNames {
  std::string
      model;  ///< as it was asked for: "owner/name", "owner/name-GGUF:Q4_K_M", "llama3.1:8b", or no name of a place
  std::string repository;                           ///< "owner/name", where the preset that it means is published
  formats::Quant published = formats::Quant::bf16;  ///< in which the model's weights are found under that id
  std::string draft;                                ///< where a model of its own proposes tokens
  std::string_view program = {};                    ///< around the engine, where one was named

  /// The Hub's repository: the one that was asked for, or the preset's.
  const std::string& weights() const { return model.find('/') != std::string::npos ? model : repository; }
};

/// How a server is started. Read back it is the same server.
struct ServerCommand {
  std::string text;                ///< after the file that it reads where it needs one; empty where none says it all
  std::vector<std::string> notes;  ///< what whoever types it has to know: names that stand for others, further machines
  std::int64_t servers = 1;        ///< that are started so, each on accelerators of its own
};

/// The server's command, with the options that were said and the length of context that is answered for.
ServerCommand server_command(const serving::Deployment& deployment, const ServedNames& names);

}  // namespace llmcalc::dialects
