// What each pipeline stage of a program runs, as runs of equal blocks: a walk then costs as many steps as there are
// kinds of blocks, not layers.
#pragma once

#include "llmcalc/program/program.hpp"
#include "llmcalc/spec/layout.hpp"

#include <cstdint>
#include <vector>

namespace llmcalc::memory {

/// Equal blocks one after another. The chunks of a stage follow each other: blocks of two chunks may be one run.
struct Run {
  std::uint16_t block = 0;
  std::int64_t count = 0;

  friend bool operator==(const Run&, const Run&) = default;
};

/// Blocks of one pipeline rank in forward order.
struct StageBlocks {
  std::int64_t stage = 0;
  std::vector<Run> runs;
};

StageBlocks stage_blocks(const program::Program& program, std::int64_t stage);

/// The place in the program's sequence of the n-th block that a stage runs.
std::int64_t position_of(const program::Program& program, std::int64_t stage, std::int64_t n);

/// The stages of which one peaks highest: of those that run the same blocks the first, because a stage never has fewer
/// micro-batches in flight than one behind it, and nothing else tells them apart. Where gradients of weights wait, all
/// of them: those behind have more that wait.
std::vector<StageBlocks> distinct_stages(const program::Program& program, spec::Schedule schedule);

}  // namespace llmcalc::memory
