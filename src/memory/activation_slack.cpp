#include "memory/activation_slack.hpp"

#include "llmcalc/program/allocator.hpp"
#include "memory/liveness.hpp"

namespace llmcalc::memory {

namespace {

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

}  // namespace

void add_activation_slack(const layers::Block& block, BlockWalk& walk) {
  const auto slack = slack_of_kept(block).total();
  walk.kept += slack;
  walk.forward_peak += slack;
  walk.backward_peak += slack;
}

}  // namespace llmcalc::memory
