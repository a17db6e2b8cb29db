#include "memory/block_prices.hpp"

#include "llmcalc/spec/question.hpp"
#include "memory/inner/buffers.hpp"
#include "memory/inner/liveness.hpp"
#include "memory/inner/recompute_groups.hpp"
#include "memory/inner/zero_buffers.hpp"
#include "program/allocator.hpp"

namespace llmcalc::memory {

namespace {

/// FSDP1 keeps a flat 16-bit gradient of a unit, frozen parts included; FSDP2 adds those of a micro-batch to the others
/// in the type in which they are reduced (torch/distributed/fsdp/_fully_shard/_fsdp_param.py,
/// to_accumulated_grad_if_needed).
quantity::Bytes whole_gradients(const layers::Block& block, const spec::Training& training,
                                const program::StateSharding& sharding) {
  return sharding.gathers_once() ? accumulated_gradients(block, training) : flat_gradient(block);
}

program::AllocatorSlack slack_of_kept(const layers::Block& block) {
  program::AllocatorSlack slack;
  const Lifetimes lifetimes(block);
  for (std::size_t id = 0; id < block.tensors.size(); ++id) {
    const bool kept =
        block.checkpointed ? id == block.input || block.tensors[id].survives_recompute : lifetimes.kept[id];
    if (kept) slack.add({block.tensors[id].size, 1, 1}, 1);
  }
  return slack;
}

/// What the allocator's blocks hold beyond the tensors that a block keeps for its backward pass, and so at its peaks.
void add_activation_slack(const layers::Block& block, BlockWalk& walk) {
  const auto slack = slack_of_kept(block).total();
  walk.kept += slack;
  walk.forward_peak += slack;
  walk.backward_peak += slack;
}

}  // namespace

void WeightPrices::assign(const program::Program& program, const spec::Question& question,
                          const frameworks::Profile& profile, const program::StateSharding& sharding) {
  blocks.clear();
  for (const auto& block : program.blocks) {
    blocks.push_back({program::block_states(block, question.training, sharding),
                      gathered_weights(block, question.training), whole_gradients(block, question.training, sharding)});
  }
  zero = zero_buffers(program, question, profile.exchange.zero);
  scratch.clear();
  if (profile.gradients.dummy_weight) scratch.assign(program);
  workspace = workspaces(program, profile);
}

void walk_blocks(const program::Program& program, const StepRules& rules, std::vector<BlockWalk>& walks) {
  walks.clear();
  for (const auto& block : program.blocks) {
    walks.push_back(walk_block(block, rules.gradients));
    if (rules.counts_slack) add_activation_slack(block, walks.back());
  }
  walk_groups(program, rules.gradients, walks);
}

}  // namespace llmcalc::memory
