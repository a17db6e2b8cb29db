// The command that starts a server.
#pragma once

#include "llmcalc/formats/quant.hpp"
#include "serving/engine.hpp"

#include <string>

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

/// With the options that were said and the length of context that is answered for, after the file that it reads where
/// it needs one; empty where there is none to type.
std::string server_command(const serving::Deployment& deployment, const ServedNames& names);

/// How often that command is to be given. Copies that share no experts are servers of their own where experts are
/// spread over ranks: one line would spread them further (vLLM docs/serving/data_parallel_deployment,
/// --data-parallel-size).
std::int64_t servers_to_start(const spec::Question& question);

}  // namespace llmcalc::dialects
