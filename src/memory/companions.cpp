#include "memory/companions.hpp"

#include <algorithm>

namespace llmcalc::memory {

using program::Companion;
using program::Role;
using quantity::Bytes;
using quantity::bytes;

namespace {

struct Pass {
  program::States states;
  Bytes kept;
  Bytes peak;
};

/// A frozen model runs block by block and keeps nothing. Generation keeps its cache, beside which one position of each
/// sample is small.
Pass pass_of(const BlockPrices& prices, const StepRules& rules, const Companion& companion,
             std::span<const program::Run> runs) {
  Pass pass;
  auto widest = bytes(0);
  for (const auto& [block, count] : runs) {
    const std::uint16_t own = companion.runs[block];
    const BlockWalk& walk = prices.walks[own];
    const BlockWeights& weights = prices.weights->blocks[own];
    if (companion.owns_weights) pass.states.add(weights.states, count);
    pass.kept += count * walk.kept;
    widest = std::max(widest, walk.forward_peak + (rules.streams_weights ? weights.gathered : bytes(0)));
  }
  pass.peak = pass.kept + (companion.role == Role::generation ? bytes(0) : widest);
  return pass;
}

}  // namespace

Companions companions_of(const BlockPrices& prices, const StepRules& rules, std::span<const program::Run> runs) {
  Companions sum;
  for (const Companion& companion : prices.companions) {
    const Pass pass = pass_of(prices, rules, companion, runs);
    if (companion.role == Role::reference) sum.reference = pass.states;
    if (companion.role == Role::reward) sum.reward = pass.states;
    if (companion.is_trained()) {
      sum.value = pass.states;
      sum.kept = pass.kept;
    } else {
      Bytes& highest = rules.asks_in_loss ? sum.in_loss : sum.before;
      highest = std::max(highest, pass.peak);
    }
  }
  return sum;
}

}  // namespace llmcalc::memory
