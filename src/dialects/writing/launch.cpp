#include "dialects/launch.hpp"

#include "dialects/core/formats.hpp"
#include "dialects/core/letter.hpp"
#include "dialects/writing/launchers.hpp"
#include "llmcalc/spec/question.hpp"
#include "quantity/lists.hpp"
#include "spec/names.hpp"

#include <string_view>
#include <utility>

namespace llmcalc::dialects {
namespace {

/// One row a word of --framework.
struct Starter {
  std::string_view framework;
  std::string_view title;
  const Format& (*format)() = nullptr;  ///< whose rows are written
  std::string (*command)(const spec::Question& question) = nullptr;
  bool is_program = false;  ///< Python, which nobody reads back
};

constexpr Starter starters[] = {
    {"megatron", "Megatron-LM", nullptr, megatron_command},
    {"torchtitan", "torchtitan", nullptr, torchtitan_command},
    {"deepspeed", "DeepSpeed", nullptr, deepspeed_command},
    {"trl", "trl", trainer_format},
    {"axolotl", "axolotl", axolotl_format},
    {"llama-factory", "LLaMA-Factory", llama_factory_format},
    {"unsloth", "unsloth", nullptr, unsloth_command, true},
    {"ms-swift", "ms-swift", ms_swift_format},
    {"litgpt", "LitGPT", nullptr, litgpt_command, true},
    {"torchtune", "torchtune", torchtune_format},
    {"lightning", "Lightning", nullptr, lightning_command, true},
};

/// The command, with what it does not say of the run: rows that are read back as another run start none.
Launch written(const Starter& starter, const spec::Question& question) {
  Letter letter{question};
  std::string command = starter.format != nullptr ? starter.format().write(letter) : starter.command(question);
  std::vector<std::string> beyond;
  if (!starter.is_program) beyond = untold(question, command);
  const bool trains_all = question.training.method == spec::Method::full;
  if (!beyond.empty() && (starter.format != nullptr || !trains_all)) command.clear();
  return {std::string(starter.title), std::move(command), std::move(beyond)};
}

}  // namespace

std::vector<Launch> launches(const spec::Question& question) {
  const auto framework = spec::name_of(question.training.framework);
  const Starter* starter = quantity::find_or_null(starters, framework, &Starter::framework);
  if (starter == nullptr) return {};
  return {written(*starter, question)};
}

}  // namespace llmcalc::dialects
