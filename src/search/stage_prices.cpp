#include "search/stage_prices.hpp"

namespace llmcalc::search {

quantity::Bytes StagePeaks::worst(const memory::StageWalk& walk, std::uint32_t list, Stages stages) {
  const auto& needs = needs_.get(list, [&](std::vector<memory::StageNeeds>& made) {
    made.clear();
    for (const auto& group : stages) made.push_back(walk.needs(group.runs));
  });
  return walk.worst(stages, needs).allocated;
}

}  // namespace llmcalc::search
