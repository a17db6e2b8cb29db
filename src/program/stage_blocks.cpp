#include "program/stage_blocks.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::program {

namespace {

/// Calls visit(chunk) for the chunks of a stage in forward order, until it returns false.
template <class Visit>
void visit_chunks(const Program& program, std::int64_t stage, const Visit& visit) {
  const auto step = static_cast<std::size_t>(program.stages);
  for (auto i = static_cast<std::size_t>(stage); i < program.chunks.size(); i += step) {
    if (!visit(program.chunks[i])) return;
  }
}

void append(std::vector<BlockRun>& runs, std::uint16_t block) {
  if (!runs.empty() && runs.back().block == block) {
    ++runs.back().count;
  } else {
    runs.push_back({block, 1});
  }
}

}  // namespace

std::vector<BlockRun> blocks_of_stage(const Program& program, std::int64_t stage) {
  std::vector<BlockRun> runs;
  visit_chunks(program, stage, [&](const Chunk& chunk) {
    for (std::uint32_t i = chunk.first; i < chunk.last; ++i) append(runs, program.sequence[i]);
    return true;
  });
  return runs;
}

std::vector<StageGroup> stage_groups(const Program& program) {
  std::vector<StageGroup> groups;
  for (std::int64_t stage = 0; stage < program.stages; ++stage) {
    auto runs = blocks_of_stage(program, stage);
    const auto known = std::ranges::find(groups, runs, &StageGroup::runs);
    if (known == groups.end()) {
      groups.push_back({std::move(runs), stage, stage, 1});
    } else {
      known->last = stage;
      ++known->stages;
    }
  }
  return groups;
}

std::int64_t position_of(const Program& program, std::int64_t stage, std::int64_t n) {
  std::int64_t position = 0;
  visit_chunks(program, stage, [&](const Chunk& chunk) {
    const std::int64_t length = std::int64_t{chunk.last} - chunk.first;
    position = chunk.first + n;
    n -= length;
    return n >= 0;
  });
  return position;
}

}  // namespace llmcalc::program
