#include "llmcalc/answer/estimate.hpp"

#include "answer/parts.hpp"

namespace llmcalc::answer {

Walks walk(const spec::Question& question) {
  Walks walks;
  walks.profile = profile_of(question);
  walks.program = program::build_program(question, walks.profile);
  walks.size = program::count_parameters(walks.program);
  walks.work = program::count_work(walks.program);
  const memory::StepWalk step(walks.program, question, walks.profile);
  walks.memory = walk_stage(step, question);
  walks.timeline = step.timeline(walks.memory.stage);
  walks.levels = levels(question, walks.profile, walks.memory, walks.size.total);
  return walks;
}

Estimate estimate(const spec::Question& question) {
  const Walks walks = walk(question);
  Estimate answer;
  answer.size = {quantity::parameters(walks.size.total), quantity::parameters(walks.size.active),
                 quantity::parameters(walks.size.trainable), quantity::parameters(walks.size.tables)};
  answer.memory = memory_answer(question, walks);
  answer.verdict = verdict(question, answer.memory.peak_device);
  answer.compute = time_answer(question, walks);
  answer.timed = question.gpu.has_value();
  answer.notes = notes(question, walks);
  answer.warnings = warnings(question, answer);
  return answer;
}

}  // namespace llmcalc::answer
