#include "llmcalc/answer/estimate.hpp"

#include "answer/inner/parts.hpp"
#include "answer/model_size.hpp"
#include "frameworks/check_question.hpp"
#include "llmcalc/spec/question.hpp"

namespace llmcalc::answer {

namespace {

/// The FLOPs of a micro-batch belong to the model, however it is cut: those of a rank that holds it all.
program::Work work_of_model(const spec::Question& question, const program::Program& program,
                            const frameworks::Profile& profile) {
  const spec::Layout& layout = question.layout;
  if (layout.tp * layout.cp * layout.ep * layout.etp == 1) return program::count_work(program);
  spec::Question whole = question;
  whole.layout = {};
  return program::count_work(program::build_program(whole, profile));
}

std::vector<memory::StagePeak> peaks_of_stages(const memory::StepWalk& step, std::int64_t stages) {
  std::vector<memory::StagePeak> peaks;
  for (std::int64_t i = 0; i < stages; ++i) peaks.push_back({i, step.walk(i).peak().alive.total()});
  return peaks;
}

/// Where the step is timed by its program.
void clock(const spec::Question& question, Walks& walks) {
  if (!question.gpu || question.pricing.mfu) return;
  const timing::KernelPrices kernels(*question.gpu, question.training, walks.profile);
  const timing::Network network(*question.gpu, question.layout);
  const timing::Prices prices{kernels, network, question.training.precision.compute};
  walks.times = timing::time_blocks(walks.program, prices);
  walks.step = timing::time_step(walks.program, walks.times, question, walks.profile, prices);
  for (timing::BlockTime& block : walks.times) block = timing::paced(block, question, walks.profile);
}

}  // namespace

Walks walk(const spec::Question& question) {
  Walks walks;
  walks.profile = profile_of(question);
  walks.program = program::build_program(question, walks.profile);
  walks.size = program::count_parameters(walks.program);
  walks.work = work_of_model(question, walks.program, walks.profile);
  const memory::StepWalk step(walks.program, question, walks.profile);
  walks.memory = walk_stage(step, question);
  walks.timeline = step.timeline(walks.memory.stage);
  walks.stages = peaks_of_stages(step, walks.program.stages);
  walks.host = host_need(step, question);
  walks.levels = levels(question, walks.profile, walks.memory, walks.size.total);
  clock(question, walks);
  return walks;
}

Estimate estimate(const spec::Question& question) {
  frameworks::check_question(question);
  const Walks walks = walk(question);
  Estimate answer;
  answer.size = size_answer(walks.size);
  answer.memory = memory_answer(question, walks);
  answer.verdict = verdict(question, {answer.memory.peak_needed, walks.host});
  answer.compute = time_answer(question, walks);
  answer.timed = question.gpu.has_value();
  answer.notes = notes(question, walks);
  answer.warnings = warnings(question, answer);
  return answer;
}

}  // namespace llmcalc::answer
