// A question that was read from files and commands, as the command to type, and one that could not be answered.
#pragma once

#include "llmcalc/quantity/error.hpp"
#include "llmcalc/render/report.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::render {

/// The words that were understood, with the place of every value.
struct Understood {
  std::string kind;               ///< "axolotl configuration"
  std::string verb;               ///< that answers it: "fit"
  std::vector<spec::Word> words;  ///< term, value and place, in the order of the command
  std::vector<spec::Assumption> assumptions;
  std::vector<std::string> unread;
  std::string version;
};

/// "--tp 2 --sp 1"
std::string options_of(std::span<const spec::Word> words);

/// "llmcalc fit --model llama-3-8b ...", quoted for a shell.
std::string command_of(const Understood& question);

std::string to_text(const Understood& question);
std::string to_json(const Understood& question);

/// A question that could not be answered: {"kind": "error", "place", "problem", "hint"}; the hint is null where there
/// is none.
std::string to_json(const quantity::BadInput& error, std::string_view version);

}  // namespace llmcalc::render
