// How many processes a launcher starts, as words of the question.
#pragma once

#include "dialects/core/names.hpp"
#include "dialects/reading.hpp"
#include "read/settings.hpp"

namespace llmcalc::dialects {

/// torchrun, deepspeed, srun, mpirun, and the variables CUDA_VISIBLE_DEVICES, NPROC_PER_NODE and NNODES.
void take_processes(const Settings& launcher, Reading& reading);

/// What a container or a batch job is given, where the command itself does not say it: "container.gpus", "slurm.nodes".
void take_machines(const Settings& launcher, Reading& reading);

/// The options of `accelerate launch` under the keys of its configuration file.
Settings accelerate_settings(const Settings& launcher);

}  // namespace llmcalc::dialects
