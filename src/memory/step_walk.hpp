// The memory of one training step of a program: its blocks priced once, its pipeline stages walked with those prices.
#pragma once

#include "memory/stage_walk.hpp"
#include "program/build.hpp"

#include <cstdint>
#include <vector>

namespace llmcalc::memory {

class StepWalk {
 public:
  StepWalk(const program::Program& program, const spec::Question& question, const frameworks::Profile& profile);

  const program::Program& program() const { return program_; }
  const frameworks::Profile& profile() const { return profile_; }

  StepMemory walk(std::int64_t stage) const;

  /// The stage that peaks highest; the first of equals.
  StepMemory walk_worst() const;

  /// As StageWalk::highest_host(), of all stages.
  quantity::Bytes highest_host() const;

  std::vector<BlockPeak> timeline(std::int64_t stage) const;

 private:
  StageWalk stages() const;

  const program::Program& program_;
  const spec::Question& question_;
  const frameworks::Profile& profile_;
  StepRules rules_;
  std::vector<BlockWalk> walks_;
  WeightPrices weights_;
};

}  // namespace llmcalc::memory
