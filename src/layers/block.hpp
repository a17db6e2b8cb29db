// What a block of layers holds and executes for one micro-batch, in order: its tensors, its operations, its weights.
//
// An operation knows its work, the bytes it moves, what it saves for the backward pass and what it exchanges. A walk
// reads these; none of them knows a formula of a layer.
#pragma once

#include "llmcalc/formats/dtype.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "spec/roles.hpp"

#include <array>
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace llmcalc::layers {

// A short list with its room inside: no allocation, because a search builds millions of programs.

template <class T, std::uint8_t capacity>
class SmallList {
 public:
  constexpr SmallList() = default;
  constexpr SmallList(std::initializer_list<T> items) {
    for (const T& item : items) push_back(item);
  }

  /// \pre size() < capacity: the callers are the builders of this room, whose lists have fixed lengths
  constexpr void push_back(T item) {
    assert(size_ < capacity);
    items_[size_++] = item;
  }

  constexpr std::uint8_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T operator[](std::uint8_t i) const { return items_[i]; }
  constexpr const T* begin() const { return items_.data(); }
  constexpr const T* end() const { return items_.data() + size_; }

 private:
  std::array<T, capacity> items_{};
  std::uint8_t size_ = 0;
};

using spec::Role;

using TensorId = std::uint16_t;  ///< index into Block::tensors
using WeightId = std::uint16_t;  ///< index into Block::weights
inline constexpr TensorId no_tensor = 0xffff;
inline constexpr WeightId no_weight = 0xffff;

/// Part of a tensor that generation keeps from one step to the next: one for each position, what an indexer scores it
/// by, or of each sample the matrices of a recurrence and the positions that its convolution still needs.
enum class Cached : std::uint8_t { nothing, positions, memory, index, recurrence, convolution };

/// An activation of one micro-batch on this rank. Its identity is its index: saved by two operations it counts once.
struct Tensor {
  std::string_view name;
  quantity::Bytes size;
  quantity::Bytes gradient;         ///< size of its gradient in the backward pass; zero when nothing upstream needs one
  bool survives_recompute = false;  ///< a checkpointed block keeps it instead of making it again
  bool discarded = false;           ///< given up after the forward pass though saved, until its group is run again
  bool kept_by_node = false;  ///< autograd's node holds it until the graph goes, not only until it has run backward
  Cached kept = Cached::nothing;
  bool of_encoder = false;  ///< a decoder attends to it
};

/// Kind of an operation; the time walk prices by it, the explanation names it.
enum class OpKind {
  embedding,
  linear,
  norm,
  attention,
  scores,
  softmax,
  dropout,
  activation,
  elementwise,
  cast,
  routing,
  permutation,
  convolution,
  recurrence,
  loss
};

/// A matrix product on this rank as the library is called: `count` times (m x k) by (k x n). Of attention: m queries of
/// one head, the n keys that they may see, k elements of a head, one for each head and sample.
struct Product {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t count = 1;
};

enum class Collective { all_reduce, all_gather, reduce_scatter, all_to_all, ring };

/// Which ranks take part.
enum class RankGroup { tensor, context, expert, expert_tensor };

/// Exchange of an operation with the other ranks of a group.
struct Message {
  Collective kind = Collective::all_reduce;
  RankGroup group = RankGroup::tensor;
  bool backward = false;    ///< in the backward pass; otherwise forward, and again when the operation is recomputed
  bool overlapped = false;  ///< runs beside the operation's own work
  quantity::Bytes size;     ///< of the whole tensor; of a ring, what one rank passes on in all its steps
  std::int64_t copies = 1;  ///< of each row in an all-to-all, of which a node is sent one; 1: no two rows are alike
};

struct Op {
  OpKind kind = OpKind::elementwise;
  std::string_view name{};
  SmallList<TensorId, 5> inputs{};
  SmallList<TensorId, 3> outputs{};
  SmallList<TensorId, 6> saved{};  ///< kept from here until this operation's backward
  WeightId weight = no_weight;
  Product product{};
  SmallList<Message, 4> messages{};

  quantity::Flops forward{};           ///< matrix and attention work; element-wise work is in the bytes moved
  quantity::Flops backward_input{};    ///< gradients of the inputs
  quantity::Flops backward_weight{};   ///< gradient of the weight
  quantity::Flops kernel_recompute{};  ///< forward work that a fused attention kernel repeats inside its backward
  quantity::Flops masked{};            ///< forward work that causal or window masks save (attention only)
  quantity::Bytes moved_forward{};
  quantity::Bytes moved_backward{};
  quantity::Bytes workspace_forward{};   ///< alive only while the operation runs forward
  quantity::Bytes workspace_backward{};  ///< alive only while it runs backward
  quantity::Bytes scratch_tensor{};      ///< the largest tensor of either; 0: each is one

  SmallList<TensorId, 3> held{};  ///< kept by the framework's local variables until this operation has run forward

  std::int32_t kernels = 1;              ///< in which it runs forward, one after another
  std::int32_t kernels_backward = 1;     ///< and backward, of a product for each gradient
  std::int32_t calls = 1;                ///< operations that the host could hand over meanwhile
  bool routed = false;                   ///< on rows between a mixture's dispatch and its combination
  bool narrow = false;                   ///< a product in the run's 8- or 4-bit type; others run in 16 bits beside it
  bool wide = false;                     ///< a product in fp32, which matrix units leave to the others
  bool eager = false;                    ///< one of PyTorch's own kernels, not one that was written for the purpose
  bool computes_masked = false;          ///< an attention kernel that reads its mask saves nothing by it
  bool passes_gradient = false;          ///< the gradient of the output is the gradient of each input, without a copy
  bool gradient_in_place = false;        ///< the gradient of the input takes the storage of what was saved
  bool adds_gradient = false;            ///< a product that adds the gradient of the input to what has arrived
  bool behind_kept = false;              ///< nothing that it makes is read again where its layer is
  std::uint8_t recompute = 0;            ///< operations of one non-zero group are run again in the backward pass
  SmallList<std::uint8_t, 2> remakes{};  ///< groups whose discarded results are made again before this one's backward
};

/// Which ranks hold a slice of a weight.
enum class Split { replicated, tensor, expert };

struct Weight {
  Role role = Role::vector;
  std::string_view name{};
  std::int64_t elements = 0;  ///< on this rank
  std::int64_t whole = 0;     ///< in the whole model
  std::int64_t active = 0;    ///< of `whole`, those that one token passes through
  std::int64_t rows = 0;      ///< of one matrix; 0 for vectors (factored optimizers, quantization)
  std::int64_t columns = 0;
  formats::Dtype dtype = formats::Dtype::bf16;  ///< in which it rests
  std::int64_t layouts = 1;  ///< in which it rests so: row-wise, and column-wise too where narrow products need both
  formats::Dtype copy_type = formats::Dtype::bf16;  ///< of the copies that narrow products keep beside it
  std::int64_t copies = 0;
  bool trainable = true;
  bool adapter = false;        ///< beside the model, not part of its published size
  bool table = false;          ///< an embedding table or untied head: not in the "non-embedding" count
  bool tied = false;           ///< another block's weight under a second name: not counted as parameters again
  bool shared = false;         ///< tied, and the storage is that other weight's: on this rank it costs nothing
  bool has_sharer = false;     ///< another block's weight of the same storage is the first to get its gradient
  bool shards_scales = false;  ///< of a quantized weight, with its codes
  bool stacked = false;        ///< all experts' matrices are one tensor
  Split split = Split::replicated;
};

struct Block {
  std::string_view name;
  std::vector<Tensor> tensors;
  std::vector<Op> ops;
  std::vector<Weight> weights;
  TensorId input = no_tensor;    ///< handed over by the block before
  TensorId output = no_tensor;   ///< handed to the block after
  quantity::Bytes held_by_loop;  ///< of its tensors, what the training loop keeps until all blocks have run backward
  bool checkpointed = false;     ///< runs under full recompute: `input` and marked tensors outlive its forward pass
  bool tower = false;            ///< of an encoder that stands beside the text model, or between the two
  /// Blocks [group_first, group_end) follow each other under one checkpoint, which keeps the input of the first alone.
  std::uint16_t group_first = 0;
  std::uint16_t group_end = 0;  ///< 0: a checkpoint of its own, if any
};

}  // namespace llmcalc::layers
