#include "memory/step_walk.hpp"

#include "llmcalc/memory/phase.hpp"
#include "llmcalc/spec/question.hpp"

#include <algorithm>

namespace llmcalc::memory {

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::forward: return "forward";
    case Phase::loss: return "loss";
    case Phase::backward: return "backward";
    case Phase::optimizer: return "optimizer step";
    case Phase::evaluation: return "evaluation";
    case Phase::checkpoint: return "checkpoint";
  }
  return {};
}

namespace {

struct HoldingWords {
  Holding holding;
  std::string_view id;
  std::string_view name;
};

constexpr HoldingWords holdings[] = {
#include "ledger/holdings.inc"
};

const HoldingWords& words_of(Holding holding) { return *std::ranges::find(holdings, holding, &HoldingWords::holding); }

}  // namespace

std::string_view name_of(Holding holding) { return words_of(holding).name; }
std::string_view id_of(Holding holding) { return words_of(holding).id; }

namespace {

/// From the place in a stage to the place in the program; the optimizer step has none.
std::int64_t in_sequence(const program::Program& program, std::int64_t stage, Phase phase, std::int64_t place) {
  return phase >= Phase::optimizer ? 0 : program::position_of(program, stage, place);
}

}  // namespace

StepWalk::StepWalk(const program::Program& program, const spec::Question& question, const frameworks::Profile& profile)
    : program_(program), question_(question), profile_(profile), rules_(step_rules(question, profile)) {
  walk_blocks(program, rules_, walks_);
  weights_.assign(program, question, profile, rules_.sharding);
}

StageWalk StepWalk::stages() const {
  return {{walks_, &weights_, program_.sequence.front(), program_.sequence.back(), program_.companions},
          rules_,
          question_,
          profile_};
}

StepMemory StepWalk::walk(std::int64_t stage) const {
  StepMemory memory = stages().walk(program::blocks_of_stage(program_, stage), stage);
  for (auto* peaks : {&memory.steady, &memory.first_step}) {
    for (PeakMoment& peak : *peaks) peak.position = in_sequence(program_, stage, peak.phase, peak.position);
  }
  return memory;
}

StepMemory StepWalk::walk_worst() const { return walk(stages().worst(program::stage_groups(program_)).stage); }

quantity::Bytes StepWalk::highest_host() const { return stages().highest_host(program::stage_groups(program_)); }

std::vector<BlockPeak> StepWalk::timeline(std::int64_t stage) const {
  auto points = stages().timeline(program::blocks_of_stage(program_, stage), stage);
  for (BlockPeak& point : points) point.position = in_sequence(program_, stage, point.phase, point.position);
  return points;
}

}  // namespace llmcalc::memory
