// How context-parallel ranks see each other's keys and values around the attention core.
#pragma once

#include "layers/inner/attention.hpp"

namespace llmcalc::layers {

/// Ring attention passes keys and values round while it works on those that it has; their gradients go round with them
/// in the backward pass (Liu et al. 2023, arXiv:2310.01889 §3). Adds what `op` sends and the buffers for it.
void pass_round(const Context& c, const Heads& heads, const Value& out, Op& op);

/// What the programs that merge ring steps outside the kernel move for it.
void merge_steps(BlockBuilder& b, const Heads& heads, const Value& out);

/// Every rank gives the positions that it has of other ranks' heads for all positions of its own heads (Jacobs et al.
/// 2023, arXiv:2309.14509 §3.1).
Heads exchange_positions(BlockBuilder& b, const Heads& heads);

/// The way back: all heads of the rank's own positions.
Value exchange_heads(BlockBuilder& b, const Value& out);

}  // namespace llmcalc::layers
