// The directives of Slurm's batch scripts (sbatch's manual): machines and accelerators of a job.
#pragma once

#include "dialects/core/names.hpp"
#include "dialects/shell/shell.hpp"
#include "read/settings.hpp"

#include <string_view>
#include <vector>

namespace llmcalc::dialects {

/// "slurm.nodes", "slurm.gpus_per_node", "slurm.gpus", "slurm.gpu".
Settings slurm_settings(const std::vector<ShellWord>& directives, std::string_view place);

}  // namespace llmcalc::dialects
