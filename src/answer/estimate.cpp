#include "llmcalc/answer/estimate.hpp"

#include "answer/parts.hpp"

#include "llmcalc/quantity/error.hpp"

#include <fmt/format.h>

namespace llmcalc::answer {

namespace {

/// \throws quantity::BadInput when the pipeline has no such stage
std::int64_t chosen_stage(const spec::Question& question) {
  const std::int64_t stages = question.layout.pp;
  const auto& rank = question.rank;
  if (rank.kind == spec::RankChoice::Kind::first) return 0;
  if (rank.kind == spec::RankChoice::Kind::last) return stages - 1;
  if (rank.stage < stages) return rank.stage;
  throw quantity::BadInput("--rank", fmt::format("pp={} is not a stage; the pipeline has stages 0 to {}", rank.stage, stages - 1));
}

memory::StepMemory worst_stage(const memory::StepWalk& step, std::int64_t stages) {
  memory::StepMemory worst = step.walk(0);
  for (std::int64_t stage = 1; stage < stages; ++stage) {
    const memory::StepMemory other = step.walk(stage);
    if (other.peak().alive.total() > worst.peak().alive.total()) worst = other;
  }
  return worst;
}

/// FLOPs are told of the whole model: they are those of the same run on one accelerator, divided over nothing.
program::Work whole_work(const spec::Question& question, const Walks& walks) {
  const auto& layout = question.layout;
  if (layout.tp * layout.cp * layout.ep * layout.etp == 1) return program::count_work(walks.program);
  spec::Question undivided = question;
  undivided.layout = {};
  return program::count_work(program::build_program(undivided, walks.profile));
}

}  // namespace

Walks walk(const spec::Question& question) {
  Walks walks;
  walks.profile = program::make_profile(question.training, question.gpu);
  walks.program = program::build_program(question, walks.profile);
  walks.size = program::count_parameters(walks.program);
  walks.work = whole_work(question, walks);
  const memory::StepWalk step(walks.program, question, walks.profile);
  const bool every = question.rank.kind == spec::RankChoice::Kind::max;
  walks.memory = every ? worst_stage(step, question.layout.pp) : step.walk(chosen_stage(question));
  return walks;
}

Estimate estimate(const spec::Question& question) {
  const Walks walks = walk(question);
  Estimate answer;
  answer.size = {quantity::parameters(walks.size.total), quantity::parameters(walks.size.active),
                 quantity::parameters(walks.size.trainable), quantity::parameters(walks.size.tables)};
  answer.memory = memory_answer(question, walks);
  answer.verdict = verdict(question, answer.memory);
  answer.compute = time_answer(question, walks);
  answer.timed = question.gpu.has_value();
  answer.notes = notes(question, answer.verdict);
  answer.warnings = warnings(question, answer);
  return answer;
}

}  // namespace llmcalc::answer
