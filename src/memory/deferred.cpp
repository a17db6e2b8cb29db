#include "memory/deferred.hpp"

#include "memory/liveness.hpp"

namespace llmcalc::memory {

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
