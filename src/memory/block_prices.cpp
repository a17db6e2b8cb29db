#include "llmcalc/memory/block_prices.hpp"

#include "memory/buffers.hpp"
#include "memory/recompute_groups.hpp"
#include "memory/zero_buffers.hpp"

namespace llmcalc::memory {

using quantity::bytes;

void WeightPrices::assign(const program::Program& program, const spec::Question& question,
                          const program::Profile& profile, const StepRules& rules) {
  blocks.clear();
  for (const auto& block : program.blocks) {
    blocks.push_back({program::block_states(block, question.training, rules.sharding),
                      rules.streams_weights ? gathered_weights(block, question.training) : bytes(0),
                      rules.flat_gradients ? flat_gradient(block) : bytes(0)});
  }
  zero = zero_buffers(program, question, profile.zero);
  scratch.clear();
  if (profile.dummy_weight_gradients) scratch.assign(program);
  workspace = workspaces(program, profile);
}

void walk_blocks(const program::Program& program, const StepRules& rules, std::vector<BlockWalk>& walks) {
  walks.clear();
  for (const auto& block : program.blocks) walks.push_back(walk_block(block, rules.gradients));
  walk_groups(program, rules.gradients, walks);
}

}  // namespace llmcalc::memory
