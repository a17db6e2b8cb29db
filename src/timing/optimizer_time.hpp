// The update of the weights.
#pragma once

#include "llmcalc/program/program.hpp"
#include "llmcalc/program/sharding.hpp"
#include "llmcalc/spec/training.hpp"
#include "llmcalc/timing/kernels.hpp"

namespace llmcalc::timing {

/// What the update reads and writes of the states of one block on its rank.
quantity::Bytes update_traffic(const program::Block& block, const spec::Training& training,
                               const program::Sharding& sharding);

/// Matrix products of the update of one block: Muon's.
quantity::Seconds update_products(const program::Block& block, const spec::Training& training,
                                  const program::Sharding& sharding, const Kernels& kernels);

}  // namespace llmcalc::timing
