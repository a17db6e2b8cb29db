#include "memory/inner/companions.hpp"

#include <algorithm>

namespace llmcalc::memory {

using program::Companion;
using program::CompanionRole;
using quantity::Bytes;
using quantity::bytes;

namespace {

struct Pass {
  Bytes kept;
  Bytes peak;
};

/// A frozen model runs block by block and keeps nothing. Generation keeps its cache, beside which one position of each
/// sample is small.
Pass pass_of(const BlockPrices& prices, const StepRules& rules, const Companion& companion,
             std::span<const program::BlockRun> runs) {
  Pass pass;
  auto widest = bytes(0);
  for (const auto& [block, count] : runs) {
    const std::uint16_t own = companion.runs[block];
    const BlockWalk& walk = prices.walks[own];
    const Bytes gathered = rules.streams_weights ? prices.weights->blocks[own].gathered : bytes(0);
    pass.kept += count * walk.kept;
    widest = std::max(widest, walk.forward_peak + gathered);
  }
  pass.peak = pass.kept + (companion.role == CompanionRole::generation ? bytes(0) : widest);
  return pass;
}

program::States states_of(const BlockPrices& prices, const Companion& companion,
                          std::span<const program::BlockRun> runs) {
  program::States states;
  if (!companion.owns_weights) return states;
  for (const auto& [block, count] : runs) states.add(prices.weights->blocks[companion.runs[block]].states, count);
  return states;
}

}  // namespace

CompanionStates companion_states(const BlockPrices& prices, std::span<const program::BlockRun> runs) {
  CompanionStates sum;
  for (const Companion& companion : prices.companions) {
    if (companion.role == CompanionRole::reference) sum.reference = states_of(prices, companion, runs);
    if (companion.role == CompanionRole::reward) sum.reward = states_of(prices, companion, runs);
    if (companion.is_trained()) sum.value = states_of(prices, companion, runs);
  }
  return sum;
}

CompanionPasses companion_passes(const BlockPrices& prices, const StepRules& rules,
                                 std::span<const program::BlockRun> runs) {
  CompanionPasses sum;
  for (const Companion& companion : prices.companions) {
    const Pass pass = pass_of(prices, rules, companion, runs);
    if (companion.is_trained()) {
      sum.kept = pass.kept;
    } else {
      Bytes& highest = rules.asks_in_loss ? sum.in_loss : sum.before;
      highest = std::max(highest, pass.peak);
    }
  }
  return sum;
}

}  // namespace llmcalc::memory
