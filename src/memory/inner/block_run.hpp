// One block of operations, run forward and backward: which tensors come and go, whatever store keeps them.
#pragma once

#include "memory/block_walk.hpp"
#include "memory/inner/liveness.hpp"

#include <bitset>

namespace llmcalc::memory {

/// Whether a tensor outlives the forward pass of its block.
inline bool is_kept(const layers::Block& block, const Lifetimes& lifetimes, layers::TensorId id) {
  return block.checkpointed ? id == block.input || block.tensors[id].survives_recompute : lifetimes.kept[id];
}

/// Runs operations forward; what is neither kept nor needed later is freed after its last use.
/// \param group  of the operations that run, 0 for all
template <class Store, class Keeps>
void run_group(const layers::Block& block, const Lifetimes& lifetimes, std::uint8_t group, const Keeps& keeps,
               Store& store, Alive<Store>& alive) {
  for (std::size_t i = 0; i < block.ops.size(); ++i) {
    const layers::Op& op = block.ops[i];
    if (group != 0 && op.recompute != group) continue;
    const auto end_if_done = [&](layers::TensorId id) {
      if (lifetimes.last_use[id] <= static_cast<std::int32_t>(i) && !keeps(id)) alive.end(id);
    };
    for (const layers::TensorId id : op.outputs) alive.start(id);
    store.touch(quantity::in_bytes(op.workspace_forward), quantity::in_bytes(op.scratch_tensor));
    for (const layers::TensorId id : op.inputs) end_if_done(id);
    for (const layers::TensorId id : op.held) end_if_done(id);
    for (const layers::TensorId id : op.outputs) end_if_done(id);
  }
}

/// The whole forward pass.
/// \pre the block's input is alive
template <class Store>
void run_forward(const layers::Block& block, const Lifetimes& lifetimes, Store& store, Alive<Store>& alive) {
  run_group(
      block, lifetimes, 0, [&](layers::TensorId id) { return is_kept(block, lifetimes, id); }, store, alive);
}

/// Makes alive what the forward pass has kept, where it is not.
template <class Store>
void start_kept(const layers::Block& block, const Lifetimes& lifetimes, Alive<Store>& alive) {
  for (std::size_t i = 0; i < block.tensors.size(); ++i) {
    const auto id = static_cast<layers::TensorId>(i);
    if (is_kept(block, lifetimes, id)) alive.start(id);
  }
}

/// The backward pass of a block, with what it runs again.
template <class Store>
class BackwardRun {
 public:
  BackwardRun(const layers::Block& block, const Lifetimes& lifetimes, const WeightGradients& gradients, Store& store,
              Alive<Store>& alive)
      : block_(block),
        lifetimes_(lifetimes),
        policy_(gradients),
        store_(store),
        alive_(alive),
        arrived_(block, store),
        released_(block) {}

  void run();

  Gradients<Store>& arrived() { return arrived_; }
  std::int64_t left_behind() const { return left_behind_; }  ///< of gradients of weights
  std::int64_t awaiting() const { return awaiting_; }        ///< of a tied matrix, beside them

 private:
  using Block = layers::Block;
  using Op = layers::Op;
  using TensorId = layers::TensorId;

  void start();
  void step(const Op& op);
  void recompute_before(const Op& op);
  void recompute(std::uint8_t group);
  void end_group(std::uint8_t group);
  void make_input_gradients(const Op& op);
  bool waits(const layers::Weight& weight) const;
  bool is_left(const layers::Weight& weight) const;
  std::int64_t weight_gradient_bytes(const Op& op, const layers::Weight& weight) const;
  void make_weight_gradient(const Op& op);
  void forget_saved(const Op& op);
  bool is_released(TensorId id) const { return released_[id] == lifetimes_.savers[id]; }
  void leave_vectors();

  const Block& block_;
  const Lifetimes& lifetimes_;
  const WeightGradients& policy_;
  Store& store_;
  Alive<Store>& alive_;
  Gradients<Store> arrived_;
  PerTensor<std::uint16_t> released_;  ///< of the operations that keep a tensor, those whose backward pass is over
  std::bitset<most_groups> recomputed_;
  std::int64_t left_behind_ = 0;
  std::int64_t awaiting_ = 0;
};

/// A checkpointed block runs its backward inside another one, which holds the recomputed output and the gradient that
/// came in until it is done (torch/utils/checkpoint.py, CheckpointFunction.backward).
template <class Store>
void BackwardRun<Store>::start() {
  start_kept(block_, lifetimes_, alive_);
  if (block_.output != layers::no_tensor && !arrived_.has(block_.output)) arrived_.arrive(block_.output);
  if (block_.checkpointed) {
    arrived_.hold(block_.output);
    const auto keeps = [&](TensorId id) {
      return id == block_.input || (lifetimes_.savers[id] > 0 && !block_.tensors[id].discarded);
    };
    run_group(block_, lifetimes_, 0, keeps, store_, alive_);
  }
}

template <class Store>
void BackwardRun<Store>::run() {
  start();
  for (std::size_t i = block_.ops.size(); i-- > 0;) {
    const Op& op = block_.ops[i];
    step(op);
    if (lifetimes_.group_start[op.recompute] == static_cast<std::int32_t>(i)) end_group(op.recompute);
  }
  leave_vectors();
}

/// Tensors that a checkpointed block has made again are there but for those discarded even then.
template <class Store>
void BackwardRun<Store>::recompute_before(const Op& op) {
  for (const std::uint8_t group : op.remakes) recompute(group);
  if (op.recompute != 0 && !block_.checkpointed) recompute(op.recompute);
}

template <class Store>
void BackwardRun<Store>::recompute(std::uint8_t group) {
  if (recomputed_[group]) return;
  recomputed_.set(group);
  run_group(
      block_, lifetimes_, group, [&](TensorId id) { return lifetimes_.savers[id] > 0; }, store_, alive_);
}

/// The checkpoint's backward holds what it made again until it is done.
template <class Store>
void BackwardRun<Store>::end_group(std::uint8_t group) {
  if (!recomputed_[group]) return;
  for (const Op& op : block_.ops) {
    if (op.recompute != group) continue;
    for (const TensorId id : op.outputs)
      if (is_released(id)) alive_.end(id);
  }
}

template <class Store>
void BackwardRun<Store>::step(const Op& op) {
  bool differentiated = op.kind == layers::OpKind::loss;
  for (const TensorId id : op.outputs) differentiated = differentiated || arrived_.has(id);
  if (differentiated) {
    recompute_before(op);
    if (op.gradient_in_place) forget_saved(op);
    make_input_gradients(op);
    make_weight_gradient(op);
    store_.touch(quantity::in_bytes(op.workspace_backward), quantity::in_bytes(op.scratch_tensor));
  }
  for (const TensorId id : op.outputs) arrived_.release(id);
  if (!(differentiated && op.gradient_in_place)) forget_saved(op);
}

template <class Store>
void BackwardRun<Store>::make_input_gradients(const Op& op) {
  for (const TensorId id : op.inputs) {
    if (op.passes_gradient) {
      arrived_.pass(op.outputs[0], id);
    } else if (!op.adds_gradient || !arrived_.has(id)) {
      arrived_.arrive(id);
    }
  }
}

/// Autograd adds up the gradients of both uses before it hands them on (pytorch torch/csrc/autograd/engine.cpp and
/// input_buffer.cpp), in place where the first owns its storage: what one product leaves is a view that turns it over.
/// Executed with torch 2.11: `add` of bf16 and fp32 weights, `add_` under autocast.
template <class Store>
bool BackwardRun<Store>::waits(const layers::Weight& weight) const {
  return weight.shared && policy_.awaits_second;
}
template <class Store>
bool BackwardRun<Store>::is_left(const layers::Weight& weight) const {
  return policy_.kept && !weight.shared && !(weight.has_sharer && policy_.awaits_second);
}

/// Bytes that the kernel makes: a looked-up table has a gradient in its own type, whatever autocast narrows.
template <class Store>
std::int64_t BackwardRun<Store>::weight_gradient_bytes(const Op& op, const layers::Weight& weight) const {
  if (op.kind == layers::OpKind::embedding)
    return quantity::in_bytes(formats::storage_bytes(weight.dtype, weight.elements));
  return weight.elements * (weight.table ? policy_.table_width : policy_.product_width);
}

/// The product for it runs while the operation's scratch memory is there: it reads the gathered input.
template <class Store>
void BackwardRun<Store>::make_weight_gradient(const Op& op) {
  if (op.weight == layers::no_weight || !block_.weights[op.weight].trainable) return;
  const auto& weight = block_.weights[op.weight];
  const std::int64_t scratch = quantity::in_bytes(op.workspace_backward);
  if (waits(weight)) {
    awaiting_ = weight.elements * (policy_.kept ? policy_.kept_width : policy_.product_width);
    store_.leave(awaiting_);
  } else if (is_left(weight)) {
    store_.leave(weight.elements * policy_.kept_width);
    left_behind_ += weight.elements * policy_.kept_width;
    const std::int64_t made = weight.elements * policy_.product_width;
    if (policy_.kept_width != policy_.product_width) store_.touch(scratch + made, std::max(scratch, made));
  } else {
    const std::int64_t made = weight_gradient_bytes(op, weight);
    const bool adds_apart = weight.has_sharer && policy_.awaits_second && policy_.adds_apart;
    store_.touch(scratch + (adds_apart ? 2 : 1) * made, std::max(scratch, made));
  }
}

template <class Store>
void BackwardRun<Store>::forget_saved(const Op& op) {
  for (const TensorId id : op.saved) {
    ++released_[id];
    if (is_released(id)) alive_.end(id);
  }
}

/// Biases and the like have no operation of their own; their gradients appear with their matrix's.
template <class Store>
void BackwardRun<Store>::leave_vectors() {
  if (!policy_.kept) return;
  std::int64_t all = 0;
  for (const auto& weight : block_.weights) all += weight.trainable && is_left(weight) ? weight.elements : 0;
  const std::int64_t vectors = all * policy_.kept_width - left_behind_;
  store_.leave(vectors);
  left_behind_ += vectors;
}

}  // namespace llmcalc::memory
