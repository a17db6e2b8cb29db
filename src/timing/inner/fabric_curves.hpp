// Measured times of collectives inside one node, and which of them stand for an accelerator's own links.
#pragma once

#include "layers/block.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/accelerator.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace llmcalc::timing {

inline constexpr std::int64_t smallest_exponent = 13;  ///< 8 KiB; what is smaller takes as long
inline constexpr std::size_t measured_sizes = 17;      ///< each twice the one before

using Curve = std::array<double, measured_sizes>;            ///< microseconds, never falling
inline constexpr std::size_t measured_groups = 3;            ///< among 2, 4 and 8 accelerators
using Collectives = std::array<Curve, 4 * measured_groups>;  ///< of each collective, as layers::Collective

/// How one fabric carries collectives. All-reduces of 8 on NVLink 4 and 5 are reduced in the switch (NVLS), which is
/// why they are faster than a ring.
struct FabricCurves {
  std::string_view name;
  quantity::Bandwidth link;
  Collectives times;

  const Curve& of(layers::Collective kind, std::size_t group) const {
    return times[measured_groups * static_cast<std::size_t>(kind) + group];
  }
};

/// The share of a tensor that one rank passes on when it goes round a ring once (Thakur et al. 2005, "Optimization of
/// collective communication operations in MPICH", §4.1).
constexpr double ring_share(double ranks) { return (ranks - 1.0) / ranks; }

/// Whether peers reach each other by more than the host's PCIe.
bool has_fabric(const spec::Accelerator& gpu);

/// The measured fabric of the same or the next slower NVLink; the rest of the difference is bandwidth. Fabrics whose
/// switch reduces nothing are like NVLink 3.
const FabricCurves& link_curves(const spec::Accelerator& gpu);
const FabricCurves& board_curves(const spec::Accelerator& gpu);  ///< of PCIe

quantity::Bandwidth link_bandwidth(const spec::Accelerator& gpu);
quantity::Bandwidth board_bandwidth(const spec::Accelerator& gpu);  ///< of PCIe

}  // namespace llmcalc::timing
