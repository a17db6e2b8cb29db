#include "llmcalc/memory/stage_blocks.hpp"

#include <algorithm>

namespace llmcalc::memory {

namespace {

/// Calls visit(chunk) for the chunks of a stage in forward order, until it returns false.
template <class Visit>
void visit_chunks(const program::Program& program, std::int64_t stage, const Visit& visit) {
  const auto step = static_cast<std::size_t>(program.stages);
  for (auto i = static_cast<std::size_t>(stage); i < program.chunks.size(); i += step) {
    if (!visit(program.chunks[i])) return;
  }
}

void append(std::vector<Run>& runs, std::uint16_t block) {
  if (!runs.empty() && runs.back().block == block) {
    ++runs.back().count;
  } else {
    runs.push_back({block, 1});
  }
}

}  // namespace

StageBlocks stage_blocks(const program::Program& program, std::int64_t stage) {
  StageBlocks blocks{stage, {}};
  visit_chunks(program, stage, [&](const program::Chunk& chunk) {
    for (std::uint32_t i = chunk.first; i < chunk.last; ++i) append(blocks.runs, program.sequence[i]);
    return true;
  });
  return blocks;
}

std::int64_t position_of(const program::Program& program, std::int64_t stage, std::int64_t n) {
  std::int64_t position = 0;
  visit_chunks(program, stage, [&](const program::Chunk& chunk) {
    const std::int64_t length = std::int64_t{chunk.last} - chunk.first;
    position = chunk.first + n;
    n -= length;
    return n >= 0;
  });
  return position;
}

std::vector<StageBlocks> distinct_stages(const program::Program& program, spec::Schedule schedule) {
  std::vector<StageBlocks> distinct;
  for (std::int64_t stage = 0; stage < program.stages; ++stage) {
    StageBlocks blocks = stage_blocks(program, stage);
    if (schedule == spec::Schedule::zero_bubble ||
        std::ranges::find(distinct, blocks.runs, &StageBlocks::runs) == distinct.end()) {
      distinct.push_back(std::move(blocks));
    }
  }
  return distinct;
}

}  // namespace llmcalc::memory
