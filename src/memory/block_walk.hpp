// The life of one block's tensors in a forward and a backward pass, operation by operation.
//
// The walk keeps what is alive: an output until its last use, a saved tensor until the backward of every operation that
// saved it, a gradient until it has been used. It reports what the block leaves behind and how high it rises above
// what was alive before it. Equal blocks have equal walks, so each is walked once.
#pragma once

#include "program/program.hpp"

#include <cstdint>

namespace llmcalc::memory {

/// Fate of a weight's gradient when the backward pass has made it.
struct WeightGradients {
  bool kept = false;  ///< allocated in the backward pass and left for the optimizer (torch, first micro-batch)
  std::int64_t product_width = 0;  ///< bytes an element of the matrix product's result; 0: added inside the kernel
  std::int64_t table_width = 0;    ///< the same for embedding tables and the output head, whose kernels do not add
  std::int64_t kept_width = 0;     ///< bytes an element of what is left behind
  bool deferred = false;           ///< made later, while another micro-batch runs
  bool awaits_second = false;      ///< that of a tied matrix is held from the head's backward pass to the table's
  bool adds_apart = false;         ///< ... and the sum of both is a tensor of its own

  friend bool operator==(const WeightGradients&, const WeightGradients&) = default;
};

struct BlockWalk {
  quantity::Bytes kept;               ///< saved for backward after the forward pass, the input included if it is saved
  quantity::Bytes forward_peak;       ///< highest live bytes in the forward pass, input and output included
  quantity::Bytes backward_peak;      ///< highest live bytes in the backward pass, kept tensors and gradients included
  quantity::Bytes weight_gradients;   ///< left behind by the backward pass
  quantity::Bytes awaiting_gradient;  ///< of a tied matrix, left behind until its other use has run backward
  quantity::Bytes input_gradient;     ///< handed to the block before
  quantity::Bytes held_by_loop;       ///< of its tensors, what outlives it until all blocks have run backward
  quantity::Bytes deferred;           ///< kept from the backward pass until its weights' gradients are made
  quantity::Bytes kept_by_nodes;      ///< as long as the graph exists
};

/// \pre every input of a recompute group is saved by an operation of the group
BlockWalk walk_block(const layers::Block& block, const WeightGradients& gradients);

}  // namespace llmcalc::memory
