// Commands inside containers: docker run, compose files, Kubernetes manifests.
#pragma once

#include "dialects/core/names.hpp"
#include "dialects/shell/command.hpp"
#include "read/settings.hpp"

#include <string_view>
#include <vector>

namespace llmcalc::dialects {

/// The command that an image runs, with "container.gpus", "container.gpu" and "container.version" among the
/// launcher's settings.
/// \param words  the command given to it, or its arguments alone where the image has a command of its own
LaunchCommand container_launch(const ShellWord& image, std::vector<ShellWord> words, std::string_view place);

/// "/bin/sh -c 'text'": the command of the text that starts a known program, or else its last. Any other words stay as
/// they are.
std::vector<ShellWord> without_shell(std::vector<ShellWord> words, std::string_view place);

/// Of "docker run [options] image [command]", from behind the verb.
LaunchCommand docker_launch(const std::vector<ShellWord>& words, std::size_t from, std::string_view place);

/// True for a compose file and for Kubernetes manifests.
bool describes_containers(const Node& file);

/// The containers of a compose file or of Kubernetes manifests; none where a file is neither.
std::vector<LaunchCommand> containers_in(const Node& file, std::string_view place);

}  // namespace llmcalc::dialects
