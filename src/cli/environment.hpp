// What the program learns from its surroundings, read once.
#pragma once

#include <filesystem>
#include <optional>

namespace llmcalc::cli {

struct Environment {
  bool terminal = false;                              ///< stdout is one
  bool errors_on_terminal = false;                    ///< stderr is one
  bool no_color = false;                              ///< https://no-color.org
  std::optional<std::filesystem::path> presets = {};  ///< of the user; need not exist
  std::filesystem::path root = "/";                   ///< below which the kernel tells of its devices
};

Environment read_environment();

}  // namespace llmcalc::cli
