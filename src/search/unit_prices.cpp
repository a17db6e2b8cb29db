// Prices that the layouts of a unit share, each made when it is first asked for.

#include "search/inner/unit_search.hpp"

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

PricedProgram& PlanPrices::program(const ProgramKey& key, std::uint32_t base, const spec::Question& question,
                                   const frameworks::Profile& profile, const timing::Prices& prices) {
  const auto known = std::ranges::find(programs_, key, &PricedProgram::key);
  const bool is_new = known == programs_.end();
  PricedProgram& made = is_new ? programs_.next() : *known;
  if (!is_new && made.base == base) return made;
  if (is_new) program::build_program(question, profile, made.program);
  made.key = key;
  made.base = base;
  made.work.clear(lists_);
  made.times.clear();
  made.all.reset();
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
