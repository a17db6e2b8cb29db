// A question that was read from files and commands, as the command to type, with the place of every value.
#pragma once

#include "llmcalc/render/report.hpp"

#include <string>
#include <vector>

namespace llmcalc::render {

struct Understood {
  std::string kind;             ///< "axolotl configuration"
  std::string verb;             ///< that answers it: "fit"
  std::vector<EchoLine> words;  ///< term, value and place, in the order of the command
  std::vector<std::string> assumptions;
  std::vector<std::string> unread;
  std::string version;
};

/// "llmcalc fit --model llama-3-8b ...", quoted for a shell.
std::string command_of(const Understood& question);

std::string to_text(const Understood& question);
std::string to_json(const Understood& question);

}  // namespace llmcalc::render
