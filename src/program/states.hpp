// What training keeps for each parameter between steps: weights, master copy, gradients, optimizer states.
#pragma once

#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/training.hpp"
#include "program/program.hpp"
#include "program/sharding.hpp"

#include <algorithm>
#include <cstdint>

namespace llmcalc::program {

// What PyTorch's caching allocator hands out for tensors beyond their own bytes.

/// The bytes that `torch.cuda.memory_allocated` counts for tensors beyond their own.
class AllocatorSlack {
 public:
  AllocatorSlack() = default;
  /// Slack of so many tensors of one size. Of sharded ones a rank has slices, as many tensors as its share is.
  AllocatorSlack(quantity::Bytes tensor, std::int64_t tensors, std::int64_t shards);

  AllocatorSlack& add(const AllocatorSlack& other, std::int64_t count) {
    own_ += count * other.own_;
    shared_ += count * other.shared_;
    granule_ = common(granule_, other.granule_);
    return *this;
  }
  quantity::Bytes total() const;

 private:
  /// Granule of sizes with two: every multiple of the smaller one is left somewhere.
  static std::int64_t common(std::int64_t a, std::int64_t b) {
    return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
  }

  std::int64_t own_ = 0;      ///< bytes, of tensors whose blocks are no others' business
  std::int64_t shared_ = 0;   ///< bytes, of tensors that share segments, were their sizes not multiples of anything
  std::int64_t granule_ = 0;  ///< what the sizes of those are multiples of, a power of two; 0: there are none
};

// What an optimizer keeps for each tensor between steps, and what it needs beside that while it updates one.

/// A matrix of a layer: neither embedding table nor output head. Muon, GaLore and APOLLO leave all else to AdamW.
bool is_hidden_matrix(const layers::Weight& weight);

/// States of one tensor, to the byte; the source of each formula stands with it in optimizer_states.cpp.
quantity::Bytes optimizer_bytes(const layers::Weight& weight, const spec::Training& training);

/// Scratch memory while this tensor is updated, for optimizers that take one tensor after the other. Those that take
/// all tensors at once are described by Profile::optimizer_temporaries.
quantity::Bytes update_scratch(const layers::Weight& weight, const spec::Training& training);

struct States {
  quantity::Bytes weights;         ///< of the model, with the narrow copies that products keep of them
  quantity::Bytes adapters;        ///< trained tensors beside the model
  quantity::Bytes master;          ///< fp32 copies of narrower weights, or the 16 bits that bf16 weights lack of them
  quantity::Bytes gradients;       ///< of all trained weights, whether persistent or made in the backward pass
  quantity::Bytes wide_gradients;  ///< of these, fp32 copies that the optimizer keeps of narrower ones
  quantity::Bytes optimizer;
  quantity::Bytes paged;               ///< optimizer states in managed memory: no need of the accelerator that fills up
  quantity::Bytes moment_temporaries;  ///< one tensor in the moments' type per trained parameter
  quantity::Bytes gradient_copies;     ///< fp32 copies of narrower gradients, for optimizers that make them in the step
  quantity::Bytes update_scratch;      ///< of the tensor whose update takes most; a sum of states keeps the largest
  AllocatorSlack slack;                ///< beyond weights, adapters and master weights, if each tensor is by itself
  AllocatorSlack moment_slack;         ///< and beyond the optimizer's states

  States& operator+=(const States& other) { return add(other, 1); }
  /// The states of `count` equal blocks.
  States& add(const States& other, std::int64_t count);
};

/// A weight of several experts is so many tensors on its rank, unless one holds them all.
std::int64_t tensors_of(const layers::Weight& weight);

/// The states of one weight on its rank. A weight whose storage is another block's has none.
States weight_states(const layers::Weight& weight, const spec::Training& training, const StateSharding& sharding);

/// The states of all weights of a block, and what the allocator's blocks hold beyond them.
States block_states(const layers::Block& block, const spec::Training& training, const StateSharding& sharding);

}  // namespace llmcalc::program
