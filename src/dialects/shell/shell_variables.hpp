// Variables of a shell that say something of the run: those that launchers read, and those that a job is given.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmcalc::dialects {

/// True if a launcher or a server is told something by it; no others are looked at.
bool is_read_by_launchers(std::string_view variable);

/// What Slurm tells a script of a directive of its own (sbatch's manual, output environment variables): names and
/// counts.
std::vector<std::pair<std::string, std::string>> job_variables(std::string_view directive);

}  // namespace llmcalc::dialects
