// What kernels take on one accelerator: matrix products, attention, and everything that only moves bytes.
#pragma once

#include "llmcalc/program/program.hpp"
#include "llmcalc/spec/accelerator.hpp"
#include "llmcalc/spec/training.hpp"

namespace llmcalc::timing {

enum class Pass { forward, backward_input, backward_weight };

/// The prices of one accelerator for one run, looked up once.
class Kernels {
 public:
  /// \throws quantity::BadInput when the accelerator has no peak that can carry the compute type
  Kernels(const spec::Accelerator& gpu, const spec::Training& training);

  /// One matrix product. \param product  of the forward pass; a gradient's product has the same FLOPs in another shape
  quantity::Seconds product(const program::Product& product, spec::Dtype compute, Pass pass) const;

  /// A fused attention kernel, forward or backward, on `op.product` with the masked share of the scores left out.
  quantity::Seconds attention(const program::Op& op, bool backward) const;

  /// A kernel that is bound by memory: reads and writes so many bytes.
  quantity::Seconds stream(quantity::Bytes moved) const;

  /// What the host needs to hand one operation to the accelerator; it works ahead while the accelerator is busy.
  quantity::Seconds dispatch() const;
};

}  // namespace llmcalc::timing
