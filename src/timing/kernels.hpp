// What kernels take on one accelerator: matrix products, attention, and everything that only moves bytes.
#pragma once

#include "frameworks/profile.hpp"
#include "llmcalc/spec/accelerator.hpp"
#include "llmcalc/spec/training.hpp"
#include "program/program.hpp"
#include "timing/host.hpp"

#include <string>

namespace llmcalc::timing {

/// Which of the three products of a linear operation: Y = X W, its dX = dY W^T, its dW = X^T dY; the last one also
/// where the second factor is no weight.
enum class Pass { forward, backward_input, backward_weight, backward_factor };

struct Chip;

/// The prices of one accelerator for one run, looked up once. \pre the accelerator outlives it
class KernelPrices {
 public:
  /// \throws quantity::BadInput when the accelerator has no peak that can carry the compute type
  KernelPrices(const spec::Accelerator& gpu, const spec::Training& training, const frameworks::Profile& profile);

  /// One call of the library. \param product  of the forward pass; that of a gradient follows from it
  quantity::Seconds product(const layers::Product& product, formats::Dtype compute, Pass pass) const;

  /// One in fp32 that memory does not bound.
  quantity::Seconds wide_product(quantity::Flops flops) const;

  /// Time beyond that of one product, for products that are a call each.
  quantity::Seconds further_calls(std::int64_t calls) const;
  /// Time to start further kernels.
  quantity::Seconds further_starts(std::int64_t kernels) const;

  /// A fused attention kernel on `op.product`, with the masked share of the scores left out.
  quantity::Seconds attention(const layers::Op& op, bool backward) const;

  /// A kernel that is bound by memory: reads and writes so many bytes.
  quantity::Seconds stream(quantity::Bytes moved) const;

  /// Time of one of PyTorch's own kernels.
  quantity::Seconds eager_stream(quantity::Bytes moved) const;

  /// Time of any whose operands the cache holds.
  quantity::Seconds cached_stream(quantity::Bytes moved) const;
  bool caches(quantity::Bytes operands) const { return operands <= cache_; }

  /// A kernel that is bound by its arithmetic. \param each  nanoseconds that one of the accelerator's units takes
  quantity::Seconds computed(std::int64_t elements, double each) const;

  /// Time as of `stream` for one that puts rows in another order.
  quantity::Seconds permutation(quantity::Bytes moved) const;

  const HostPrices& host() const { return host_; }

  /// Prices that are the least for a row: no unit is left without a tile, and the cache holds all.
  KernelPrices without_edges() const;

 private:
  KernelPrices(const spec::Accelerator& gpu, const spec::Training& training, const frameworks::Profile& profile,
               const Chip& chip);

  double peak(formats::Dtype compute) const;
  double waves(std::int64_t count) const;

  const spec::Accelerator* gpu_;
  double start_;         ///< seconds of a kernel beside its work
  double further_call_;  ///< and of each further product of one operation
  formats::Dtype compute_;
  double wide_rate_;       ///< FLOP/s of products in 16 bit
  double compute_rate_;    ///< FLOP/s of products in `compute_`
  double row_kernel_;      ///< speed of forward products whose operands have a scale a row, over that with one scale
  double bandwidth_;       ///< bytes per second that kernels reach
  double eager_;           ///< and PyTorch's own ones
  double cached_;          ///< and those on what the cache holds
  double permuting_;       ///< share that kernels reach which put rows in another order
  quantity::Bytes cache_;  ///< what it holds
  double units_;           ///< that work on tiles at the same time
  double sum_width_;       ///< bytes of the element that the product of a weight gradient adds to; 0: it adds to none
  spec::ProductRates matrix_;  ///< inside a run
  spec::AttentionRates attention_;
  double attention_type_ = 1.0;  ///< rate of attention's products over that of 16-bit ones
  HostPrices host_;
};

/// Sentence on a part of whose kind nothing was measured; empty of others.
std::string stand_in_source(const spec::Accelerator& gpu);

/// Source of the prices of matrix products: a measurement of the part, of a relative, or of the median of all.
std::string matrix_source(const spec::Accelerator& gpu);

}  // namespace llmcalc::timing
