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
    {Holding::weights, "weights", "weights"},
    {Holding::master_weights, "master_weights", "master weights"},
    {Holding::gradients, "gradients", "gradients"},
    {Holding::optimizer_states, "optimizer_states", "optimizer states"},
    {Holding::adapters, "adapters", "adapters"},
    {Holding::reference_model, "reference_model", "reference model"},
    {Holding::reward_model, "reward_model", "reward model"},
    {Holding::value_model, "value_model", "value model"},
    {Holding::activations, "activations", "activations"},
    {Holding::logits, "logits", "logits and loss"},
    {Holding::temporaries, "temporaries", "temporaries"},
    {Holding::workspace, "workspace", "workspaces"},
    {Holding::communicators, "communicators", "communicators"},
    {Holding::engine, "engine", "colocated engine"},
    {Holding::context, "context", "CUDA context"},
    {Holding::checkpoint, "checkpoint", "checkpoint"},
    {Holding::offloaded, "offloaded", "offloaded"},
    {Holding::allocator, "allocator", "allocator slack"},
    {Holding::calibration, "calibration", "calibration"},
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
