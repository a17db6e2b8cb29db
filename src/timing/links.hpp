// What it takes to exchange data between accelerators of one node.
#pragma once

#include "llmcalc/spec/accelerator.hpp"
#include "program/program.hpp"

#include <cstdint>

namespace llmcalc::timing {

struct FabricCurves;

/// The links of one accelerator inside a node, looked up once for all its layouts.
class Links {
 public:
  explicit Links(const spec::Accelerator& gpu);

  /// A collective among ranks of one node.
  /// \param ring  ranks over which the whole tensor goes round: more than `ranks` where nodes take part in a larger
  /// ring
  quantity::Seconds collective(layers::Collective kind, quantity::Bytes size, std::int64_t ranks,
                               std::int64_t ring) const;

  /// Each rank sends so much to the next one. \param ranks  those of the node that do
  quantity::Seconds neighbours(quantity::Bytes size, std::int64_t ranks) const;

  /// Accelerators that the link joins where that is not a node's number; 0 where it is.
  std::int64_t joined() const { return joined_; }

 private:
  /// A measured fabric and how much slower this accelerator's is.
  struct Fabric {
    const FabricCurves* curves;
    double slowdown;
  };
  const Fabric& among(std::int64_t ranks) const { return joined_ == 0 || ranks <= joined_ ? link_ : board_; }

  Fabric link_;   ///< PCIe as well where there is no other
  Fabric board_;  ///< the host's PCIe
  std::int64_t joined_ = 0;
};

}  // namespace llmcalc::timing
