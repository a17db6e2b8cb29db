// What layers that carry a state along the sequence share.
#pragma once

#include "layers/inner/attention.hpp"

namespace llmcalc::layers {

/// A scan: its inputs, its work for a channel and an element of state, and the tensors that it keeps.
struct Scan {
  std::string_view name;
  double flops_a_state;  ///< forward, for each position, channel and element of state
  Value input;
  SmallList<TensorId, 4> beside{};  ///< read besides
  SmallList<TensorId, 6> saved{};
  bool keeps_result = false;
};

Value scanned(BlockBuilder& b, const spec::StateShape& s, const Scan& scan);

/// Part of a recurrence on a tensor-parallel rank: its share of the channels and heads, and the groups that those
/// heads read, of which it has at least one (vLLM model_executor/layers/mamba/mamba_utils.py,
/// extra_groups_for_head_shards; Megatron-LM core/ssm/mamba_mixer.py).
spec::StateShape share_of(const spec::StateShape& whole, std::int64_t tp);

struct Convolution {
  std::int64_t channels = 0;  ///< of all ranks
  std::int64_t kernel = 0;
  bool bias = false;
};

/// A causal depthwise convolution over the positions, `kernel` multiply-adds a channel (causal-conv1d csrc/
/// causal_conv1d.cpp). It keeps its input; the activation behind it is part of the kernel and computed again.
Value convolved(BlockBuilder& b, const Convolution& convolution, const Value& in);

/// A copy in another order, or of some columns; servers read the whole where it lies.
Value copied(BlockBuilder& b, const Value& x, std::string_view name, std::int64_t columns);

/// RG-LRU (De et al. 2024, arXiv:2402.19427).
Value gated_recurrence(BlockBuilder& b, const spec::StateShape& s, const Value& x);

/// RWKV-4 (Peng et al. 2023, arXiv:2305.13048).
Value wkv(BlockBuilder& b, const spec::StateShape& s, const Value& x);

/// mLSTM (Beck et al. 2025, arXiv:2503.13427); `state` is the width of a head's key.
Value matrix_memory(BlockBuilder& b, const spec::StateShape& s, const Value& x);

/// Lightning attention; `state` is the width of a head.
Value lightning(BlockBuilder& b, const spec::StateShape& s, const Value& x);

}  // namespace llmcalc::layers
