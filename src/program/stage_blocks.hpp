// What each pipeline stage of a program runs, as runs of equal blocks: a walk then costs as many steps as there are
// kinds of blocks, not layers, and stages that run the same blocks are priced once.
#pragma once

#include "program/program.hpp"

#include <cstdint>
#include <vector>

namespace llmcalc::program {

/// Equal blocks one after another. The chunks of a stage follow each other: blocks of two chunks may be one run.
struct BlockRun {
  std::uint16_t block = 0;
  std::int64_t count = 0;

  friend bool operator==(const BlockRun&, const BlockRun&) = default;
};

/// Stages that run the same blocks in the same order.
struct StageGroup {
  std::vector<BlockRun> runs;  ///< in forward order
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t stages = 1;

  friend bool operator==(const StageGroup&, const StageGroup&) = default;
};

std::vector<BlockRun> blocks_of_stage(const Program& program, std::int64_t stage);

/// The stages of a program by what they run, in the order of their first ones.
std::vector<StageGroup> stage_groups(const Program& program);

/// The place in the program's sequence of the n-th block that a stage runs.
std::int64_t position_of(const Program& program, std::int64_t stage, std::int64_t n);

}  // namespace llmcalc::program
