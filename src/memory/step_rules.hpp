// What holds for every block of a run: how states are sharded, what rests on the host, when gradients are alive.
#pragma once

#include "memory/block_walk.hpp"
#include "program/offload.hpp"
#include "program/sharding.hpp"

namespace llmcalc::memory {

struct StepRules {
  program::StateSharding sharding;
  program::Offloaded offload;
  WeightGradients gradients;
  bool differentiates = true;      ///< a backward pass and an optimizer step follow
  bool gradient_buffer = true;     ///< gradients have memory of their own from the start
  bool gradients_resident = true;  ///< they are alive while a micro-batch runs
  bool streams_weights = false;    ///< weights are whole on the accelerator only while their layer runs
  bool flat_gradients = false;     ///< sharded gradients stay whole between micro-batches
  bool asks_in_loss = false;       ///< companions run when the loss is computed, otherwise when samples are made
  bool keeps_last_graph = false;   ///< of the micro-batch before, until the loss of the next one is there
  bool fetches_next_layer = true;  ///< while a layer runs backward, the weights of the one before it are gathered
  bool retains_inputs = false;     ///< checkpointed inputs and their gradients stay to the end of the backward pass
  bool counts_slack = false;       ///< what the allocator's blocks hold beyond kept tensors is counted with them

  bool keeps_whole_gradients() const { return flat_gradients || sharding.gathers_once(); }
};

StepRules step_rules(const spec::Question& question, const frameworks::Profile& profile);

}  // namespace llmcalc::memory
