// What the search over a unit prices, and when. unit_search.cpp goes through what is chosen.
#include "search/inner/unit_prices.hpp"

#include <algorithm>

namespace llmcalc::search {

using quantity::Bytes;

void PlanPrices::clear() {
  programs_.clear();
  walks_.clear();
}

void PlanPrices::enter(std::size_t lists) {
  lists_ = lists;
  for (PricedProgram& program : programs_) program.work.clear(lists);
}

PricedProgram& PlanPrices::program(const ProgramKey& key, const spec::Question& question,
                                   const frameworks::Profile& profile, const timing::Prices& prices) {
  for (PricedProgram& known : programs_) {
    if (known.key == key) return known;
  }
  PricedProgram& made = programs_.next();
  made.key = key;
  made.work.clear(lists_);
  program::build_program(question, profile, made.program);
  made.times.clear();
  made.least_work.reset();
  for (const auto& block : made.program.blocks) made.times.push_back(timing::time_block(block, prices));
  return made;
}

const PricedWalks& PlanPrices::walks(const PricedProgram& program, const memory::StepRules& rules) {
  for (const PricedWalks& known : walks_) {
    if (known.of == &program && known.gradients == rules.gradients && known.counts_slack == rules.counts_slack) {
      return known;
    }
  }
  PricedWalks& made = walks_.next();
  made.of = &program;
  made.gradients = rules.gradients;
  made.counts_slack = rules.counts_slack;
  memory::walk_blocks(program.program, rules, made.walks);
  return made;
}

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

Bytes StagePeaks::worst(const memory::StageWalk& walk, std::uint32_t list, Stages stages, StageRests& rests) {
  return walk.worst(stages, needs(walk, list, stages, rests)).allocated;
}

Bytes StagePeaks::least(const memory::StageWalk& walk, std::uint32_t list, Stages stages, StageRests& rests) {
  auto highest = quantity::bytes(0);
  for (const auto& of : needs(walk, list, stages, rests)) highest = std::max(highest, walk.peak(of));
  return highest;
}

Bytes StagePeaks::highest_host(const memory::StageWalk& walk, std::uint32_t list, Stages stages, StageRests& rests) {
  return walk.highest_host(stages, needs(walk, list, stages, rests));
}

}  // namespace llmcalc::search
