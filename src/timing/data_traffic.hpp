// What data-parallel ranks exchange: gradients after the backward pass, weights before they are used.
#pragma once

#include "llmcalc/program/profile.hpp"
#include "llmcalc/program/program.hpp"
#include "llmcalc/spec/question.hpp"
#include "llmcalc/timing/network.hpp"
#include "timing/stage_time.hpp"

namespace llmcalc::timing {

/// Time of the collectives of one block or stage, hidden or not.
struct DataTraffic {
  quantity::Seconds gather;  ///< weights made whole
  quantity::Seconds reduce;  ///< gradients

  DataTraffic& operator+=(const DataTraffic& other);
};

/// The bytes that are made whole or reduced, dense weights and experts' apart: they have different groups.
struct DataBytes {
  quantity::Bytes weights, gradients;
  quantity::Bytes expert_weights, expert_gradients;

  DataBytes& operator+=(const DataBytes& other);
  friend DataBytes operator*(std::int64_t times, const DataBytes& bytes);
};

DataBytes data_bytes(const program::Block& block, const spec::Training& training);

/// One exchange of so many bytes under the run's sharding.
DataTraffic data_traffic(const DataBytes& bytes, const spec::Layout& layout, const Network& network);

/// Weights exist whole only while their block runs: gathered in each pass of each micro-batch.
bool gathers_by_block(const spec::Layout& layout);

}  // namespace llmcalc::timing
