#include "llmcalc/launch/launch.hpp"

#include "launch/launchers.hpp"

namespace llmcalc::launch {

std::vector<Launch> launches(const spec::Question& question) {
  return {launch_megatron(question), launch_torchtitan(question), launch_deepspeed(question)};
}

}  // namespace llmcalc::launch
