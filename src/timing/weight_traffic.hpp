// What the weights of a block move once a step or once a pass, beside the work of its operations.
#pragma once

#include "frameworks/profile.hpp"
#include "llmcalc/spec/layout.hpp"
#include "llmcalc/spec/training.hpp"
#include "program/program.hpp"
#include "program/sharding.hpp"
#include "timing/kernels.hpp"
#include "timing/network.hpp"

#include <cstdint>

namespace llmcalc::timing {

struct WeightTraffic {
  quantity::Bytes weights;  ///< made whole where they are sharded, in the type in which they travel
  quantity::Bytes gradients;
  quantity::Bytes expert_weights;  ///< experts have a data-parallel group of their own
  quantity::Bytes expert_gradients;
  quantity::Bytes accumulated;              ///< read and written to add a micro-batch's gradients to those before
  quantity::Bytes updated;                  ///< what the optimizer reads and writes of the states on its rank
  quantity::Seconds update_products;        ///< matrix products of the update: Muon's
  quantity::Seconds update_dispatch;        ///< what the host needs to hand the update over
  quantity::Parameters updated_parameters;  ///< on this rank
  std::int64_t trained = 0;                 ///< tensors
  quantity::Bytes first_weights{};          ///< of one block: those of its first matrix
  quantity::Bytes first_gradients{};        ///< and its gradient
  quantity::Bytes last_weights{};           ///< those of its last matrix

  WeightTraffic& operator+=(const WeightTraffic& other);
  friend WeightTraffic operator*(std::int64_t times, const WeightTraffic& traffic);
};

/// Time of the collectives of one block or stage, hidden or not.
struct DataTraffic {
  quantity::Seconds gather;          ///< weights made whole
  quantity::Seconds reduce;          ///< gradients
  quantity::Seconds shown_forward;   ///< of a gather, what has no other work beside it
  quantity::Seconds shown_backward;  ///< of a gather and what is reduced

  DataTraffic& operator+=(const DataTraffic& other);
};

WeightTraffic weight_traffic(const layers::Block& block, const spec::Training& training,
                             const frameworks::Profile& profile, const program::StateSharding& sharding,
                             const KernelPrices& kernels);

// What data-parallel ranks exchange: gradients after the backward pass, weights before they are used.

/// One exchange of these weights and gradients under the run's sharding, as the framework makes it.
DataTraffic data_traffic(const WeightTraffic& weights, const spec::Layout& layout, const Network& network,
                         const frameworks::Profile& profile);

/// Bytes that FSDP and ZeRO copy in memory around the collectives of one pass forward and backward.
quantity::Bytes copied_around_exchange(const WeightTraffic& weights, const spec::Layout& layout,
                                       const frameworks::Profile& profile);

}  // namespace llmcalc::timing
