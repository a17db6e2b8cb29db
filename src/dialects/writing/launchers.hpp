// How a run is started, a framework a file.
#pragma once

#include "dialects/launch.hpp"

namespace llmcalc::dialects {

std::string megatron_command(const spec::Question& question);
std::string torchtitan_command(const spec::Question& question);
std::string deepspeed_command(const spec::Question& question);
std::string unsloth_command(const spec::Question& question);
std::string litgpt_command(const spec::Question& question);
std::string lightning_command(const spec::Question& question);

}  // namespace llmcalc::dialects
