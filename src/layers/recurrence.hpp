// What layers that carry a state along the sequence share.
#pragma once

#include "layers/attention.hpp"

namespace llmcalc::layers {

/// What a scan reads beside its input, and what it does for a channel and an element of state.
struct Scan {
  std::string_view name;
  double flops_a_state;  ///< forward, for each position, channel and element of state
  Value input;
  Value steps;
  Value gate;
};

Value scanned(BlockBuilder& b, const spec::StateShape& s, const Scan& scan);

/// RWKV-4 (Peng et al. 2023, arXiv:2305.13048).
Value wkv(BlockBuilder& b, const spec::StateShape& s, const Value& x);

/// mLSTM (Beck et al. 2025, arXiv:2503.13427); `state` is the width of a head's key.
Value matrix_memory(BlockBuilder& b, const spec::StateShape& s, const Value& x);

}  // namespace llmcalc::layers
