#include "dialects/launch.hpp"

#include "dialects/writing/launchers.hpp"
#include "llmcalc/spec/question.hpp"
#include "spec/names.hpp"

#include <string_view>

namespace llmcalc::dialects {
namespace {

/// One row a word of --framework; several frameworks are started by the same command.
struct Starter {
  std::string_view framework;
  Launch (*launch)(const spec::Question& question);
};

constexpr Starter starters[] = {
    {"megatron", launch_megatron},
    {"nemo", launch_megatron},
    {"megatron-deepspeed", launch_megatron},
    {"torchtitan", launch_torchtitan},
    {"deepspeed", launch_deepspeed},
    {"hf", launch_trl},
    {"trl", launch_trl},
    {"accelerate", launch_trl},
    {"liger", launch_trl},
    {"axolotl", launch_axolotl},
    {"llama-factory", launch_llama_factory},
    {"unsloth", launch_unsloth},
    {"ms-swift", launch_ms_swift},
    {"litgpt", launch_litgpt},
    {"torchtune", launch_torchtune},
    {"lightning", launch_lightning},
};

/// Megatron-LM's and torchtitan's commands train all weights.
bool trains_all(const spec::Question& question) { return question.training.method == spec::Method::full; }

}  // namespace

std::vector<Launch> launches(const spec::Question& question) {
  const auto framework = spec::name_of(question.training.framework);
  for (const Starter& starter : starters) {
    if (starter.framework != framework) continue;
    const bool pretrains = starter.launch == launch_megatron || starter.launch == launch_torchtitan;
    if (pretrains && !trains_all(question)) return {};
    return {starter.launch(question)};
  }
  if (question.training.framework != spec::Framework::generic) return {};
  if (trains_all(question)) return {launch_megatron(question), launch_torchtitan(question), launch_deepspeed(question)};
  return {launch_trl(question), launch_axolotl(question), launch_llama_factory(question), launch_unsloth(question)};
}

}  // namespace llmcalc::dialects
