// What data-parallel ranks exchange: gradients after the backward pass, weights before they are used.
#pragma once

#include "llmcalc/spec/layout.hpp"
#include "timing/network.hpp"
#include "timing/weight_traffic.hpp"

namespace llmcalc::timing {

/// One exchange of these weights and gradients under the run's sharding, as the framework makes it.
DataTraffic data_traffic(const WeightTraffic& weights, const spec::Layout& layout, const Network& network,
                         const frameworks::Profile& profile);

/// What FSDP and ZeRO copy in memory around the collectives of one pass forward and backward.
quantity::Bytes copied_around_exchange(const WeightTraffic& weights, const spec::Layout& layout,
                                       const frameworks::Profile& profile);

}  // namespace llmcalc::timing
