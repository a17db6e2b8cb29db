#include "search/inner/plan_prices.hpp"

namespace llmcalc::search {

namespace {

/// The next free element of a store whose first `used` are taken.
template <class T>
T& next(std::deque<T>& store, std::size_t& used) {
  if (used == store.size()) store.emplace_back();
  return store[used++];
}

}  // namespace

void PlanPrices::enter(std::size_t lists) {
  lists_ = lists;
  for (std::size_t i = 0; i < programs_; ++i) program_store_[i].work.clear(lists);
}

PricedProgram& PlanPrices::program(const ProgramKey& key, const spec::Question& question,
                                   const frameworks::Profile& profile, const timing::Prices& prices) {
  for (std::size_t i = 0; i < programs_; ++i) {
    if (program_store_[i].key == key) return program_store_[i];
  }
  PricedProgram& made = next(program_store_, programs_);
  made.key = key;
  made.work.clear(lists_);
  program::build_program(question, profile, made.program);
  made.times.clear();
  for (const auto& block : made.program.blocks) made.times.push_back(timing::time_block(block, prices));
  return made;
}

const PricedWalks& PlanPrices::walks(const PricedProgram& program, const memory::StepRules& rules) {
  for (std::size_t i = 0; i < walks_; ++i) {
    const PricedWalks& known = walk_store_[i];
    if (known.of == &program && known.gradients == rules.gradients) return known;
  }
  PricedWalks& made = next(walk_store_, walks_);
  made.of = &program;
  made.gradients = rules.gradients;
  memory::walk_blocks(program.program, rules, made.walks);
  return made;
}

}  // namespace llmcalc::search
