#include "llmcalc/memory/step_walk.hpp"

#include <algorithm>

namespace llmcalc::memory {

namespace {

/// From the place in a stage to the place in the program; the optimizer step has none.
std::int64_t in_sequence(const program::Program& program, std::int64_t stage, Phase phase, std::int64_t place) {
  return phase == Phase::optimizer ? 0 : position_of(program, stage, place);
}

}  // namespace

StepWalk::StepWalk(const program::Program& program, const spec::Question& question, const program::Profile& profile)
    : program_(program), question_(question), profile_(profile), rules_(step_rules(question, profile)) {
  walk_blocks(program, rules_, walks_);
  weights_.assign(program, question, profile, rules_);
}

StageWalk StepWalk::stages() const {
  return {{walks_, &weights_, program_.sequence.front(), program_.sequence.back()}, rules_, question_, profile_};
}

StepMemory StepWalk::walk(const StageBlocks& blocks) const {
  StepMemory memory = stages().walk(blocks);
  for (auto* peaks : {&memory.steady, &memory.first_step}) {
    for (PhasePeak& peak : *peaks) peak.position = in_sequence(program_, blocks.stage, peak.phase, peak.position);
  }
  return memory;
}

StepMemory StepWalk::walk(std::int64_t stage) const { return walk(stage_blocks(program_, stage)); }

StepMemory StepWalk::walk_worst() const {
  const auto candidates = distinct_stages(program_, question_.layout.schedule);
  const StageWalk step = stages();
  return walk(*std::ranges::max_element(candidates, {}, [&](const auto& blocks) { return step.peak(blocks); }));
}

std::vector<TimelinePoint> StepWalk::timeline(std::int64_t stage) const {
  auto points = stages().timeline(stage_blocks(program_, stage));
  for (TimelinePoint& point : points) point.position = in_sequence(program_, stage, point.phase, point.position);
  return points;
}

}  // namespace llmcalc::memory
