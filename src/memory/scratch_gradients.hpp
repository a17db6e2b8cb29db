// What fused kernels hand to autograd instead of the weight gradients that they have added up themselves.
#pragma once

#include "program/program.hpp"
#include "program/stage_blocks.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace llmcalc::memory {

/// One 16-bit scratch gradient a distinct matrix shape, filled by the fused accumulation kernels instead of the real
/// gradient and never given up (TransformerEngine pytorch/module/base.py, get_dummy_wgrad).
class ScratchGradients {
 public:
  void assign(const program::Program& program);
  void clear() { blocks_.clear(); }
  quantity::Bytes of(std::span<const program::BlockRun> runs) const;  ///< of a stage that runs these blocks

 private:
  std::uint64_t mark(const layers::Block& block);

  std::vector<std::pair<std::int64_t, std::int64_t>> shapes_;  ///< rows and columns
  std::array<quantity::Bytes, 64> sizes_{};  ///< of one gradient of each shape; more shapes than that share the last
  std::vector<std::uint64_t> blocks_;        ///< for each block the shapes it has, a bit each
};

}  // namespace llmcalc::memory
