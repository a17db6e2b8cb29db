#include "llmcalc/answer/launch.hpp"

#include "answer/launchers.hpp"

namespace llmcalc::answer {

std::vector<Launch> launches(const spec::Question& question) {
  return {launch_megatron(question), launch_torchtitan(question), launch_deepspeed(question)};
}

}  // namespace llmcalc::answer
