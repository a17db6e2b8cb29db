#include "cli/environment.hpp"

#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace llmcalc::cli {
namespace {

/// An empty variable counts as unset: both no-color.org and the XDG base directory specification say so.
std::string_view text_of_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::optional<std::filesystem::path> user_presets() {
  const std::filesystem::path ours = "llmcalc/presets";
  if (const auto folder = text_of_variable("XDG_CONFIG_HOME"); !folder.empty())
    return std::filesystem::path(folder) / ours;
  if (const auto home = text_of_variable("HOME"); !home.empty()) return std::filesystem::path(home) / ".config" / ours;
  return std::nullopt;
}

}  // namespace

Environment read_environment() {
  const bool plain = text_of_variable("TERM") == "dumb";  // can neither colour nor draw (terminfo's entry of that name)
  return {.terminal = isatty(STDOUT_FILENO) == 1 && !plain,
          .errors_on_terminal = isatty(STDERR_FILENO) == 1 && !plain,
          .no_color = !text_of_variable("NO_COLOR").empty(),
          .presets = user_presets()};
}

}  // namespace llmcalc::cli
