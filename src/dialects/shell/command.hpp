// What a command line starts, behind the launchers in front of it.
#pragma once

#include "dialects/reading.hpp"
#include "dialects/shell/shell.hpp"
#include "read/settings.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::dialects {

/// A program with its arguments.
struct LaunchCommand {
  std::vector<ShellWord> words;  ///< program, or "-m module", first
  Settings launcher;             ///< of torchrun, accelerate launch, deepspeed, srun: keys "torchrun.nnodes"
};

/// Takes "env", "nohup", "torchrun ..." and the like away from the front.
LaunchCommand unwrapped(const ShellCommand& command, std::string_view place);

/// Options as settings: "--key=value", "--key value...", "--key", and "key=value" as hydra and torchtune have it.
struct Options {
  Settings settings;
  std::vector<ShellWord> positional;
};
/// \param place  the script, whose lines are the places; or of a typed command what stands in front of the option
Options options_of(const std::vector<ShellWord>& words, std::size_t from, std::string_view place);

/// "train.sh:12", or "command --max-model-len" of a typed one, whose place has no lines.
std::string place_of(std::string_view place, const ShellWord& word, std::string_view flag);

inline constexpr std::string_view typed_place = "command";

/// The last part of a path.
std::string_view base_name(std::string_view path);

}  // namespace llmcalc::dialects
