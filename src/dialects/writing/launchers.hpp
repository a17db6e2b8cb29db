// How a run is started, a framework a file.
#pragma once

#include "dialects/launch.hpp"

namespace llmcalc::dialects {

Launch launch_megatron(const spec::Question& question);
Launch launch_torchtitan(const spec::Question& question);
Launch launch_deepspeed(const spec::Question& question);
Launch launch_trl(const spec::Question& question);
Launch launch_axolotl(const spec::Question& question);
Launch launch_llama_factory(const spec::Question& question);
Launch launch_unsloth(const spec::Question& question);
Launch launch_ms_swift(const spec::Question& question);
Launch launch_litgpt(const spec::Question& question);
Launch launch_torchtune(const spec::Question& question);
Launch launch_lightning(const spec::Question& question);

}  // namespace llmcalc::dialects
