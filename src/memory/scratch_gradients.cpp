#include "memory/scratch_gradients.hpp"

#include "layers/widths.hpp"
#include "program/optimizer_states.hpp"

#include <algorithm>
#include <bit>

namespace llmcalc::memory {

using quantity::Bytes;
using quantity::bytes;
using quantity::product;

namespace {}  // namespace

void ScratchGradients::assign(const program::Program& program) {
  shapes_.clear();
  sizes_.fill(bytes(0));
  blocks_.clear();
  for (const auto& block : program.blocks) blocks_.push_back(mark(block));
}

std::uint64_t ScratchGradients::mark(const layers::Block& block) {
  std::uint64_t marks = 0;
  for (const auto& weight : block.weights) {
    if (!weight.trainable || !program::is_hidden_matrix(weight)) continue;
    const std::pair shape{weight.rows, weight.columns};
    const auto known = std::ranges::find(shapes_, shape);
    const auto index = std::min<std::size_t>(static_cast<std::size_t>(known - shapes_.begin()), sizes_.size() - 1);
    if (known == shapes_.end()) {
      shapes_.push_back(shape);
      sizes_[index] += bytes(product(weight.rows, weight.columns, layers::half_width));
    }
    marks |= std::uint64_t{1} << index;
  }
  return marks;
}

Bytes ScratchGradients::of(std::span<const program::BlockRun> runs) const {
  std::uint64_t marks = 0;
  for (const auto& run : runs) marks |= blocks_.empty() ? 0 : blocks_[run.block];
  auto sum = bytes(0);
  for (; marks != 0; marks &= marks - 1) sum += sizes_[static_cast<std::size_t>(std::countr_zero(marks))];
  return sum;
}

}  // namespace llmcalc::memory
