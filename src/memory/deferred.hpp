// What waits for the gradients of weights where a schedule makes them apart from the rest of the backward pass.
#pragma once

#include "llmcalc/program/program.hpp"

namespace llmcalc::memory {

/// Bytes that the products of a block keep from its backward pass until the gradients of its weights are made: the
/// input of each and the gradient of its output (Qi et al. 2023, arXiv:2401.10241 table 1: 32sbh of a GPT layer).
quantity::Bytes deferred_by(const layers::Block& block);

}  // namespace llmcalc::memory
