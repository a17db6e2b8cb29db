// What schedulers say of the machines: the directives of Slurm, and tasks of SkyPilot.
#pragma once

#include "dialects/core/names.hpp"
#include "dialects/shell/shell.hpp"
#include "read/settings.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmcalc::dialects {

/// "slurm.nodes", "slurm.gpus_per_node", "slurm.gpus", "slurm.gpu".
Settings slurm_settings(const std::vector<ShellWord>& directives, std::string_view place);

struct SkyTask {
  std::string script;  ///< on the lines of the file
  Settings machines;   ///< "slurm.gpu", "slurm.gpus_per_node", "slurm.nodes": the words of a job
  std::string folder;  ///< in which it runs, below that of the file
  std::vector<std::pair<std::string, std::string>> mounts;  ///< folders of its machines, and where they come from
  std::vector<std::string> assumed;                         ///< of several types of accelerators the first
};

/// Nothing where a file is no task.
std::optional<SkyTask> sky_task(const Node& file);

/// Where a file that the script names may lie, from the folder of the task.
std::vector<std::string> places_of(const std::string& path, const SkyTask& task);

}  // namespace llmcalc::dialects
