#include "search/inner/stage_prices.hpp"

#include <algorithm>

namespace llmcalc::search {

const std::vector<memory::StageRest>& StageRests::get(const memory::StageWalk& walk, std::uint32_t list,
                                                      Stages stages) {
  return rests_.get(list, [&](std::vector<memory::StageRest>& made) {
    made.clear();
    for (const auto& group : stages) made.push_back(walk.rest(group.runs));
  });
}

const StagePeaks::Needs& StagePeaks::needs(const memory::StageWalk& walk, std::uint32_t list, Stages stages,
                                           StageRests& rests) {
  return needs_.get(list, [&](Needs& made) {
    const auto& rest = rests.get(walk, list, stages);
    made.clear();
    for (std::size_t i = 0; i < stages.size(); ++i) made.push_back(walk.needs(stages[i].runs, rest[i]));
  });
}

quantity::Bytes StagePeaks::worst(const memory::StageWalk& walk, std::uint32_t list, Stages stages, StageRests& rests) {
  return walk.worst(stages, needs(walk, list, stages, rests)).allocated;
}

quantity::Bytes StagePeaks::highest_host(const memory::StageWalk& walk, std::uint32_t list, Stages stages,
                                         StageRests& rests) {
  return walk.highest_host(stages, needs(walk, list, stages, rests));
}

quantity::Bytes least_peak(const memory::StageWalk& walk, std::uint32_t list, Stages stages, StageRests& rests) {
  const auto& rest = rests.get(walk, list, stages);
  auto highest = quantity::bytes(0);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    highest = std::max(highest, walk.peak(walk.needs(stages[i].runs, rest[i])));
  }
  return highest;
}

}  // namespace llmcalc::search
