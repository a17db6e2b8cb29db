#include "memory/gradients.hpp"

namespace llmcalc::memory {

Gradients::Gradients(const layers::Block& block, HighWater& water) : block_(block), water_(water) {
  buffer_of_.fill(none);
}

std::uint8_t Gradients::make(std::int64_t bytes) {
  water_.allocate(bytes);
  buffers_[made_] = {bytes, 1};
  return made_++;
}

void Gradients::drop(std::uint8_t buffer) {
  if (--buffers_[buffer].holders == 0) water_.free(buffers_[buffer].bytes);
}

void Gradients::merge(layers::TensorId id, std::uint8_t arriving) {
  const std::uint8_t present = buffer_of_[id];
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

}  // namespace llmcalc::memory
