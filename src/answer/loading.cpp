// What making the model leaves in the allocator.
#include "answer/parts.hpp"
#include "llmcalc/formats/dtype.hpp"

#include <set>

namespace llmcalc::answer {

/// A freed block serves a tensor that fits it, so that the next matrix of the same size takes the same blocks, and a
/// larger one new ones (pytorch c10/cuda/CUDACachingAllocator.cpp, get_free_block).
void add_loading(const program::Program& program, std::int64_t of_element, memory::StepMemory& memory) {
  if (of_element == 0) return;
  std::set<std::int64_t> sizes;
  for (const auto& run : program::blocks_of_stage(program, memory.stage)) {
    for (const auto& weight : program.blocks[run.block].weights) {
      if (formats::is_quantized(weight.dtype)) sizes.insert(quantity::product(weight.rows, weight.columns));
    }
  }
  for (const std::int64_t size : sizes) memory.loading += quantity::bytes(quantity::product(size, of_element));
}

}  // namespace llmcalc::answer
