#include "memory/block_walk.hpp"

#include "memory/inner/liveness.hpp"
#include "quantity/lists.hpp"

#include <bitset>
#include <limits>
#include <utility>

namespace llmcalc::memory {

using layers::Block;
using layers::Op;
using layers::TensorId;
using quantity::Bytes;
using quantity::bytes;
using quantity::in_bytes;

namespace {

constexpr std::int32_t forever = std::numeric_limits<std::int32_t>::max();

/// A tensor made and saved within one recompute group is made again, as is one that is discarded; everything else that
/// is saved stays.
void mark_saved(const layers::Block& block, const layers::Op& op, Lifetimes& lifetimes) {
  for (const layers::TensorId id : op.saved) {
    ++lifetimes.savers[id];
    if (block.tensors[id].discarded) continue;
    const std::uint8_t made_in = lifetimes.producer_group[id];
    if (made_in == 0 || made_in != op.recompute) lifetimes.kept[id] = true;
  }
}

}  // namespace

Lifetimes::Lifetimes(const layers::Block& block)
    : last_use(block, -1), savers(block), producer_group(block), kept(block) {
  group_start.fill(-1);
  for (std::size_t i = 0; i < block.ops.size(); ++i) {
    const auto& op = block.ops[i];
    const auto index = static_cast<std::int32_t>(i);
    if (group_start[op.recompute] < 0) group_start[op.recompute] = index;
    for (const layers::TensorId id : op.inputs) last_use[id] = index;
    for (const layers::TensorId id : op.held) last_use[id] = index;
    for (const layers::TensorId id : op.outputs) {
      last_use[id] = index;
      producer_group[id] = op.recompute;
    }
    mark_saved(block, op, *this);
  }
  if (block.output != layers::no_tensor) last_use[block.output] = forever;
}

Gradients::Gradients(const layers::Block& block, HighWater& water)
    : block_(block), water_(water), buffer_of_(block, none), buffers_(block.tensors.size() + 2, {}) {}

Gradients::BufferId Gradients::make(std::int64_t bytes) {
  water_.allocate(bytes);
  const BufferId buffer = first_free_ == none ? made_++ : first_free_;
  first_free_ = buffers_[buffer].next_free;
  buffers_[buffer] = {bytes, 1, none};
  return buffer;
}

void Gradients::drop(BufferId buffer) {
  if (--buffers_[buffer].holders > 0) return;
  water_.free(buffers_[buffer].bytes);
  buffers_[buffer].next_free = std::exchange(first_free_, buffer);
}

void Gradients::merge(layers::TensorId id, BufferId arriving) {
  const BufferId present = buffer_of_[id];
  if (present == none) {
    buffer_of_[id] = arriving;
  } else if (buffers_[present].holders == 1) {
    drop(arriving);
  } else {
    drop(present);
    buffer_of_[id] = arriving;
  }
}

void Gradients::arrive(layers::TensorId id) {
  const std::int64_t bytes = quantity::in_bytes(block_.tensors[id].gradient);
  if (bytes > 0) merge(id, make(bytes));
}

void Gradients::pass(layers::TensorId from, layers::TensorId to) {
  if (!has(from) || quantity::in_bytes(block_.tensors[to].gradient) == 0) return;
  ++buffers_[buffer_of_[from]].holders;
  merge(to, buffer_of_[from]);
}

void Gradients::hold(layers::TensorId id) {
  if (has(id)) ++buffers_[buffer_of_[id]].holders;
}

void Gradients::release(layers::TensorId id) {
  if (!has(id)) return;
  drop(buffer_of_[id]);
  buffer_of_[id] = none;
}

quantity::Bytes deferred_by(const layers::Block& block) {
  PerTensor<bool> counted(block);
  auto sum = quantity::bytes(0);
  for (const auto& op : block.ops) {
    if (op.kind != layers::OpKind::linear || op.weight == layers::no_weight) continue;
    if (!block.weights[op.weight].trainable) continue;
    for (const layers::TensorId id : op.saved) {
      if (!counted[id]) sum += block.tensors[id].size;
      counted[id] = true;
    }
    for (const layers::TensorId id : op.outputs) sum += block.tensors[id].gradient;
  }
  return sum;
}

namespace {

class BackwardWalk {
 public:
  BackwardWalk(const Block& block, const Lifetimes& lifetimes, const WeightGradients& gradients)
      : block_(block),
        lifetimes_(lifetimes),
        policy_(gradients),
        alive_(block, water_),
        arrived_(block, water_),
        released_(block) {}

  std::int64_t run();
  std::int64_t left_behind() const { return left_behind_; }
  std::int64_t awaiting() const { return awaiting_; }

 private:
  void start();
  void step(const Op& op);
  void recompute_before(const Op& op);
  void recompute(std::uint8_t group);
  void end_group(std::uint8_t group);
  void make_input_gradients(const Op& op);
  bool waits(const layers::Weight& weight) const;
  bool is_kept(const layers::Weight& weight) const;
  std::int64_t weight_gradient_bytes(const Op& op, const layers::Weight& weight) const;
  void make_weight_gradient(const Op& op);
  void forget_saved(const Op& op);
  bool is_released(TensorId id) const { return released_[id] == lifetimes_.savers[id]; }
  void leave_vectors();

  const Block& block_;
  const Lifetimes& lifetimes_;
  const WeightGradients& policy_;
  HighWater water_;
  Alive alive_;
  Gradients arrived_;
  PerTensor<std::uint16_t> released_;  ///< of the operations that keep a tensor, those whose backward pass is over
  std::bitset<most_groups> recomputed_;
  std::int64_t left_behind_ = 0;
  std::int64_t awaiting_ = 0;
};

/// Runs operations forward; what is neither kept nor needed later is freed after its last use.
template <class Keeps>
void run_forward(const Block& block, const Lifetimes& lifetimes, std::uint8_t group, const Keeps& keeps,
                 HighWater& water, Alive& alive) {
  for (std::size_t i = 0; i < block.ops.size(); ++i) {
    const Op& op = block.ops[i];
    if (group != 0 && op.recompute != group) continue;
    const auto done = [&](TensorId id) { return lifetimes.last_use[id] <= static_cast<std::int32_t>(i) && !keeps(id); };
    for (const TensorId id : op.outputs) alive.start(id);
    water.touch(in_bytes(op.workspace_forward));
    for (const TensorId id : op.inputs)
      if (done(id)) alive.end(id);
    for (const TensorId id : op.held)
      if (done(id)) alive.end(id);
    for (const TensorId id : op.outputs)
      if (done(id)) alive.end(id);
  }
}

/// A checkpointed block runs its backward inside another one, which holds the recomputed output and the gradient that
/// came in until it is done (torch/utils/checkpoint.py, CheckpointFunction.backward).
void BackwardWalk::start() {
  if (block_.checkpointed) {
    if (block_.input != layers::no_tensor) alive_.start(block_.input);
    for (std::size_t id = 0; id < block_.tensors.size(); ++id) {
      if (block_.tensors[id].survives_recompute) alive_.start(static_cast<TensorId>(id));
    }
  } else {
    for (std::size_t id = 0; id < block_.tensors.size(); ++id) {
      if (lifetimes_.kept[id]) alive_.start(static_cast<TensorId>(id));
    }
  }
  if (block_.output != layers::no_tensor) arrived_.arrive(block_.output);
  if (block_.checkpointed) {
    arrived_.hold(block_.output);
    const auto keeps = [&](TensorId id) {
      return id == block_.input || (lifetimes_.savers[id] > 0 && !block_.tensors[id].discarded);
    };
    run_forward(block_, lifetimes_, 0, keeps, water_, alive_);
  }
}

std::int64_t BackwardWalk::run() {
  start();
  for (std::size_t i = block_.ops.size(); i-- > 0;) {
    const Op& op = block_.ops[i];
    step(op);
    if (lifetimes_.group_start[op.recompute] == static_cast<std::int32_t>(i)) end_group(op.recompute);
  }
  leave_vectors();
  return water_.peak();
}

/// Tensors that a checkpointed block has made again are there but for those discarded even then.
void BackwardWalk::recompute_before(const Op& op) {
  for (const std::uint8_t group : op.remakes) recompute(group);
  if (op.recompute != 0 && !block_.checkpointed) recompute(op.recompute);
}

void BackwardWalk::recompute(std::uint8_t group) {
  if (recomputed_[group]) return;
  recomputed_.set(group);
  run_forward(
      block_, lifetimes_, group, [&](TensorId id) { return lifetimes_.savers[id] > 0; }, water_, alive_);
}

/// The checkpoint's backward holds what it made again until it is done.
void BackwardWalk::end_group(std::uint8_t group) {
  if (!recomputed_[group]) return;
  for (const Op& op : block_.ops) {
    if (op.recompute != group) continue;
    for (const TensorId id : op.outputs)
      if (is_released(id)) alive_.end(id);
  }
}

void BackwardWalk::step(const Op& op) {
  bool differentiated = op.kind == layers::OpKind::loss;
  for (const TensorId id : op.outputs) differentiated = differentiated || arrived_.has(id);
  if (differentiated) {
    recompute_before(op);
    if (op.gradient_in_place) forget_saved(op);
    make_input_gradients(op);
    make_weight_gradient(op);
    water_.touch(in_bytes(op.workspace_backward));
  }
  for (const TensorId id : op.outputs) arrived_.release(id);
  if (!(differentiated && op.gradient_in_place)) forget_saved(op);
}

void BackwardWalk::make_input_gradients(const Op& op) {
  for (const TensorId id : op.inputs) {
    if (op.passes_gradient) {
      arrived_.pass(op.outputs[0], id);
    } else {
      arrived_.arrive(id);
    }
  }
}

/// Autograd adds up the gradients of both uses before it hands them on (pytorch torch/csrc/autograd/engine.cpp and
/// input_buffer.cpp), in place where the first owns its storage: what one product leaves is a view that turns it over.
/// Executed with torch 2.11: `add` of bf16 and fp32 weights, `add_` under autocast.
bool BackwardWalk::waits(const layers::Weight& weight) const { return weight.shared && policy_.awaits_second; }
bool BackwardWalk::is_kept(const layers::Weight& weight) const {
  return policy_.kept && !weight.shared && !(weight.has_sharer && policy_.awaits_second);
}

/// Bytes that the kernel makes: a looked-up table has a gradient in its own type, whatever autocast narrows.
std::int64_t BackwardWalk::weight_gradient_bytes(const Op& op, const layers::Weight& weight) const {
  if (op.kind == layers::OpKind::embedding) return in_bytes(formats::storage_bytes(weight.dtype, weight.elements));
  return weight.elements * (weight.table ? policy_.table_width : policy_.product_width);
}

/// The product for it runs while the operation's scratch memory is there: it reads the gathered input.
void BackwardWalk::make_weight_gradient(const Op& op) {
  if (op.weight == layers::no_weight || !block_.weights[op.weight].trainable) return;
  const auto& weight = block_.weights[op.weight];
  const std::int64_t scratch = in_bytes(op.workspace_backward);
  if (waits(weight)) {
    awaiting_ = weight.elements * (policy_.kept ? policy_.kept_width : policy_.product_width);
    water_.allocate(awaiting_);
  } else if (is_kept(weight)) {
    water_.allocate(weight.elements * policy_.kept_width);
    left_behind_ += weight.elements * policy_.kept_width;
    if (policy_.kept_width != policy_.product_width) water_.touch(scratch + weight.elements * policy_.product_width);
  } else {
    const std::int64_t made = weight_gradient_bytes(op, weight);
    const bool adds_apart = weight.has_sharer && policy_.awaits_second && policy_.adds_apart;
    water_.touch(scratch + (adds_apart ? 2 : 1) * made);
  }
}

void BackwardWalk::forget_saved(const Op& op) {
  for (const TensorId id : op.saved) {
    ++released_[id];
    if (is_released(id)) alive_.end(id);
  }
}

/// Biases and the like have no operation of their own; their gradients appear with their matrix's.
void BackwardWalk::leave_vectors() {
  if (!policy_.kept) return;
  std::int64_t all = 0;
  for (const auto& weight : block_.weights) all += weight.trainable && is_kept(weight) ? weight.elements : 0;
  const std::int64_t vectors = all * policy_.kept_width - left_behind_;
  water_.allocate(vectors);
  left_behind_ += vectors;
}

struct ForwardResult {
  std::int64_t peak = 0;
  std::int64_t kept = 0;
};

ForwardResult forward_walk(const Block& block, const Lifetimes& lifetimes) {
  HighWater water;
  Alive alive(block, water);
  const auto keeps = [&](TensorId id) {
    if (!block.checkpointed) return bool{lifetimes.kept[id]};
    return id == block.input || block.tensors[id].survives_recompute;
  };
  if (block.input != layers::no_tensor) alive.start(block.input);
  run_forward(block, lifetimes, 0, keeps, water, alive);
  if (block.output != layers::no_tensor && !keeps(block.output)) alive.end(block.output);
  return {water.peak(), water.live()};
}

/// A checkpointed block has run without a graph, and what it makes again goes with its own backward pass.
Bytes kept_by_nodes(const Block& block) {
  if (block.checkpointed) return bytes(0);
  return quantity::sum_of(block.tensors, [](const auto& t) { return t.kept_by_node ? t.size : bytes(0); });
}

}  // namespace

BlockWalk walk_block(const Block& block, const WeightGradients& gradients) {
  const Lifetimes lifetimes(block);
  const ForwardResult forward = forward_walk(block, lifetimes);
  BackwardWalk backward(block, lifetimes, gradients);
  const std::int64_t backward_peak = backward.run();
  const bool has_input = block.input != layers::no_tensor;
  const auto input_gradient = has_input ? block.tensors[block.input].gradient : bytes(0);
  return {bytes(forward.kept),        bytes(forward.peak),
          bytes(backward_peak),       bytes(backward.left_behind()),
          bytes(backward.awaiting()), input_gradient,
          block.held_by_loop,         gradients.deferred ? deferred_by(block) : bytes(0),
          kept_by_nodes(block)};
}

}  // namespace llmcalc::memory
