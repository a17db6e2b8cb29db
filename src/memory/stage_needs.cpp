// What a stage takes by its place in the pipeline, once its blocks have been walked, and which stage takes most.
#include "memory/inner/buffers.hpp"
#include "memory/inner/in_flight.hpp"
#include "memory/inner/stage.hpp"

#include <algorithm>

namespace llmcalc::memory {

using quantity::Bytes;
using quantity::bytes;

/// As of a stage that is placed: other micro-batches are there in each of its passes.
Bytes StageWalk::peak(const StageNeeds& needs, std::int64_t index) const {
  const Bytes in_flight = activations_in_flight(needs.kept, question_, index);
  const StageTensors tensors = stage_tensors(question_, profile_, index);
  StageNeeds placed = needs;
  placed.micro_batch += in_flight - left_of(in_flight, needs.kept);
  placed.rest.resident += tensors.in_step;
  placed.rest.update += tensors.between_steps;
  return peak(placed);
}

Bytes StageWalk::peak(const StageNeeds& needs) const {
  const Bytes in_passes = needs.rest.resident + std::max(needs.before, needs.micro_batch);
  return rules_.differentiates ? std::max(in_passes, needs.rest.update) : in_passes;
}

Bytes StageWalk::host(const StageNeeds& needs, std::int64_t index) const {
  if (needs.kept.left == bytes(0)) return needs.rest.host;
  const Bytes in_flight = activations_in_flight(needs.kept, question_, index);
  return needs.rest.host + needs.kept.left + left_of(in_flight, needs.kept);
}

StagePeak StageWalk::worst(std::span<const program::StageGroup> groups, std::span<const StageNeeds> needs) const {
  StagePeak worst{0, bytes(-1)};
  const auto consider = [&](const StageNeeds& of, std::int64_t stage) {
    const Bytes allocated = peak(of, stage);
    if (allocated > worst.allocated) worst = {stage, allocated};
  };
  const bool may_grow = question_.layout.schedule == spec::Schedule::zero_bubble;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    consider(needs[i], groups[i].first);
    if (may_grow && groups[i].last != groups[i].first) consider(needs[i], groups[i].last);
  }
  return worst;
}

StagePeak StageWalk::worst(std::span<const program::StageGroup> groups) const {
  return worst(groups, needs_of(groups));
}

std::vector<StageNeeds> StageWalk::needs_of(std::span<const program::StageGroup> groups) const {
  std::vector<StageNeeds> of;
  for (const auto& group : groups) of.push_back(needs(group.runs, rest(group.runs)));
  return of;
}

Bytes StageWalk::highest_host(std::span<const program::StageGroup> groups, std::span<const StageNeeds> needs) const {
  Bytes highest = bytes(0);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    highest = std::max({highest, host(needs[i], groups[i].first), host(needs[i], groups[i].last)});
  }
  return highest;
}

Bytes StageWalk::highest_host(std::span<const program::StageGroup> groups) const {
  return highest_host(groups, needs_of(groups));
}

}  // namespace llmcalc::memory
