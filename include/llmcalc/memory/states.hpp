// What training keeps for each parameter between steps: weights, master copy, gradients, optimizer states.
#pragma once

#include "llmcalc/memory/sharding.hpp"
#include "llmcalc/program/program.hpp"
#include "llmcalc/spec/training.hpp"

namespace llmcalc::memory {

struct States {
  quantity::Bytes weights;
  quantity::Bytes master;      ///< fp32 copies of 16-bit weights
  quantity::Bytes gradients;   ///< of all trained weights, whether persistent or made in the backward pass
  quantity::Bytes optimizer;
  quantity::Bytes moment_temporaries;  ///< one tensor in the moments' type per trained parameter

  States& operator+=(const States& other);
  friend States operator*(States states, std::int64_t times);
};

/// The states of one weight on its rank. A weight whose storage is another block's has none.
States weight_states(const program::Weight& weight, const spec::Training& training, const Sharding& sharding);

/// The states of all weights of a block.
States block_states(const program::Block& block, const spec::Training& training, const Sharding& sharding);

/// Optimizer states of one tensor, to the byte.
///
/// AdamW: two moments (Kingma & Ba 2015). Lion, SGD with momentum: one. 8-bit AdamW of bitsandbytes: fp32 below 4,096
/// elements, else a byte each and one fp32 absmax per 256 elements and state (bitsandbytes optim/optimizer.py,
/// Optimizer2State.init_state). 4-bit AdamW of torchao: half a byte each and an fp32 scale per 128 (torchao
/// optim/subclass_4bit.py). Adafactor: a row and a column vector in fp32 a matrix (Shazeer & Stern 2018). Muon: one
/// momentum for hidden matrices, AdamW for tables and vectors (Jordan 2024). GaLore: two moments of rank x columns
/// and a projector of rows x rank (Zhao et al. 2024, arXiv:2403.03507 §4.2).
quantity::Bytes optimizer_bytes(const program::Weight& weight, const spec::Training& training);

}  // namespace llmcalc::memory
