// What a person measured of their own machine and runs, which is asked before what is measured elsewhere.
#pragma once

#include "llmcalc/quantity/quantity.hpp"

#include <cstdint>
#include <optional>

namespace llmcalc::spec {

/// Constants of the runtime that a person measured, instead of those of the framework's profile.
struct Runtime {
  std::optional<quantity::Bytes> context;    ///< --context-bytes: CUDA context and loaded kernels
  std::optional<quantity::Bytes> nccl;       ///< --nccl-bytes: buffers of NCCL's communicators
  std::optional<quantity::Bytes> workspace;  ///< --workspace: of matrix products
  std::optional<double> reserved_ratio;      ///< --reserved-ratio: what the allocator holds over what is allocated
  std::optional<quantity::Bandwidth> nvme;   ///< --nvme-bandwidth: of the drives of one node
};

/// How far a person's own runs were from what is estimated of their kind.
struct Bias {
  /// So many runs of a kind are needed to say anything of it.
  static constexpr std::int64_t fewest_runs = 5;

  double factor = 1.0;    ///< measured over estimated, in the median
  double bar = 0.0;       ///< around that, as a share: nine of ten runs lie within
  std::int64_t runs = 0;  ///< that say so; 0: nothing is known

  bool is_known() const { return runs > 0; }
};

struct Calibration {
  Bias memory;
  Bias time;  ///< of a step
};

}  // namespace llmcalc::spec
