#include "program/count.hpp"

#include <vector>

namespace llmcalc::program {

namespace {

Size block_size(const layers::Block& block) {
  Size size;
  for (const layers::Weight& w : block.weights) {
    if (w.tied) continue;
    if (w.trainable) size.trainable += w.whole;
    if (w.adapter) continue;
    size.total += w.whole;
    size.active += w.active;
    if (w.table) size.tables += w.whole;
  }
  return size;
}

Work block_work(const layers::Block& block) {
  Work work;
  for (const layers::Op& op : block.ops) {
    work.forward += op.forward;
    work.backward += op.backward_input + op.backward_weight;
    work.masked += op.masked;
    work.kernel_recompute += op.kernel_recompute;
    if (runs_again(block, op)) work.recompute += op.forward;
  }
  return work;
}

void add(Work& sum, const Work& work, double times) {
  sum.forward += times * work.forward;
  sum.backward += times * work.backward;
  sum.recompute += times * work.recompute;
  sum.kernel_recompute += times * work.kernel_recompute;
  sum.masked += times * work.masked;
}

/// How often each block runs in a step of one micro-batch.
std::vector<std::int64_t> repetitions(const Program& program) {
  std::vector<std::int64_t> times(program.blocks.size(), 0);
  for (const std::uint16_t index : program.sequence) ++times[index];
  return times;
}

}  // namespace

bool runs_again(const layers::Block& block, const layers::Op& op) {
  const bool kept = !op.outputs.empty() && block.tensors[op.outputs[0]].survives_recompute;
  return op.recompute != 0 || (block.checkpointed && !kept && !op.behind_kept);
}

Size count_parameters(const Program& program) {
  Size sum;
  const auto times = repetitions(program);
  for (std::size_t i = 0; i < program.blocks.size(); ++i) {
    const Size size = block_size(program.blocks[i]);
    sum.total += times[i] * size.total;
    sum.active += times[i] * size.active;
    sum.trainable += times[i] * size.trainable;
    sum.tables += times[i] * size.tables;
  }
  return sum;
}

Work count_work(const Program& program) {
  Work sum;
  const auto times = repetitions(program);
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i] == 0) continue;
    const auto n = static_cast<double>(times[i]);
    add(sum, block_work(program.blocks[i]), n);
    for (const Companion& companion : program.companions) {
      const Work work = block_work(program.blocks[companion.runs[i]]);
      if (companion.is_trained()) add(sum, work, n);
      if (!companion.is_trained()) sum.beside += n * work.forward / static_cast<double>(companion.micro_batches);
    }
  }
  return sum;
}

}  // namespace llmcalc::program
