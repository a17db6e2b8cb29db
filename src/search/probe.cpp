#include "search/probe.hpp"

#include "answer/levels.hpp"
#include "program/build.hpp"
#include "program/count.hpp"

#include <exception>

namespace llmcalc::search {

std::optional<trust::Need> Probe::need(const spec::Question& question) try {
  const frameworks::Profile profile = answer::profile_of(question);
  program::build_program(question, profile, program_);
  const memory::StepWalk step(program_, question, profile);
  const bool by_rule = question.training.activations == spec::ActivationModel::rule_of_thumb;
  const std::int64_t parameters = by_rule ? program::count_parameters(program_).total : 0;
  const auto memory = answer::walk_stage(step, question);
  return trust::Need{answer::levels(question, profile, memory, parameters).needed, answer::host_need(step, question)};
} catch (const std::exception&) {
  return std::nullopt;
}

}  // namespace llmcalc::search
