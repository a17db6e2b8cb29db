// The directives of Slurm's batch scripts (sbatch's manual): machines and accelerators of a job.
#pragma once

#include "read/settings/settings.hpp"
#include "read/shell/shell.hpp"

#include <string_view>
#include <vector>

namespace llmcalc::read {

/// "slurm.nodes", "slurm.gpus_per_node", "slurm.gpus", "slurm.gpu".
Settings slurm_settings(const std::vector<ShellWord>& directives, std::string_view place);

}  // namespace llmcalc::read
