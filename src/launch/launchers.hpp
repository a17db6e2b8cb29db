// How a run is started, a framework a file.
#pragma once

#include "llmcalc/launch/launch.hpp"

namespace llmcalc::launch {

Launch launch_megatron(const spec::Question& question);
Launch launch_torchtitan(const spec::Question& question);
Launch launch_deepspeed(const spec::Question& question);

}  // namespace llmcalc::launch
