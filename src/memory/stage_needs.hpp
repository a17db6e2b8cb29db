// What a pipeline stage needs at its highest moments, before it is said in which order micro-batches run.
//
// The order (1F1B, GPipe, zero bubble), the virtual stages and the place in the pipeline decide how many other
// micro-batches wait on a stage and nothing else, so a search walks a stage once for all of them.
#pragma once

#include "llmcalc/quantity/quantity.hpp"

namespace llmcalc::memory {

/// What one micro-batch keeps on a stage.
struct Kept {
  quantity::Bytes layers;    ///< between its forward and its backward pass, but for the head
  quantity::Bytes head;      ///< the same of the head and loss
  quantity::Bytes deferred;  ///< from its backward pass until its weights' gradients are made
  quantity::Bytes left;      ///< of layers and head, what is on the host until its backward pass
  quantity::Bytes buffers;   ///< of micro-batches, which last for the run; beside layers and head

  quantity::Bytes total() const { return layers + head; }
};

/// What its states and buffers take, whatever its activations do.
struct StageRest {
  quantity::Bytes resident;  ///< in every moment of the passes
  quantity::Bytes root;      ///< beside that while layers run: weights that are whole for all of them
  quantity::Bytes update;    ///< in the optimizer step
  quantity::Bytes host;      ///< in the memory of the machine: states that are offloaded, and paged ones
};

struct StageNeeds {
  StageRest rest;
  Kept kept;
  quantity::Bytes before;       ///< beside what is resident when models run whose answers the passes need
  quantity::Bytes micro_batch;  ///< beside it at the highest moment of one micro-batch, without the other ones
};

}  // namespace llmcalc::memory
