// The time of one block for one micro-batch: a walk over its operations that prices each by what bounds it.
#pragma once

#include "program/program.hpp"
#include "timing/kernels.hpp"
#include "timing/network.hpp"

#include <array>

namespace llmcalc::timing {

/// Where the time of a pass goes. Communication counts as far as nothing hides it.
struct PassTime {
  quantity::Seconds products;   ///< matrix products, those of unfused attention among them
  quantity::Seconds attention;  ///< fused attention kernels
  quantity::Seconds streams;    ///< kernels bound by memory
  quantity::Seconds tensor;     ///< communication of tensor and sequence parallelism
  quantity::Seconds context;
  quantity::Seconds expert;
  quantity::Seconds host;      ///< the accelerator waits for the host to hand over work
  quantity::Seconds dispatch;  ///< what the host needs for that, beside all of the above

  quantity::Seconds total() const { return products + attention + streams + tensor + context + expert + host; }
  PassTime& operator+=(const PassTime& other) {
    products += other.products;
    attention += other.attention;
    streams += other.streams;
    tensor += other.tensor;
    context += other.context;
    expert += other.expert;
    host += other.host;
    dispatch += other.dispatch;
    return *this;
  }
  friend PassTime operator*(double times, const PassTime& pass) {
    return {times * pass.products, times * pass.attention, times * pass.streams, times * pass.tensor,
            times * pass.context,  times * pass.expert,    times * pass.host,    times * pass.dispatch};
  }
};

/// Times of one micro-batch.
struct Passes {
  PassTime forward;
  PassTime recompute;  ///< of the forward pass, what runs again before the backward pass
  PassTime backward;
  quantity::Seconds weight_gradients;  ///< of backward.products, those that no other stage waits for
};

struct BlockTime : Passes {
  quantity::Bytes saved;             ///< from the forward to the backward pass
  std::array<Passes, 2> of_units{};  ///< what the host and waiting for it take longer where `Units` are gathered
};

/// Prices of a block: the same for all blocks of a run.
struct Prices {
  const KernelPrices& kernels;
  const Network& network;
  formats::Dtype compute;
};

BlockTime time_block(const layers::Block& block, const Prices& prices);

}  // namespace llmcalc::timing
