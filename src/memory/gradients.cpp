#include "memory/inner/gradients.hpp"

#include <utility>

namespace llmcalc::memory {

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

}  // namespace llmcalc::memory
