// What a person's own measured runs say of the estimates of their kind.
#pragma once

#include "llmcalc/spec/measured_here.hpp"
#include "trust/validation.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace llmcalc::trust {

struct OwnBias {
  std::string framework;
  spec::Calibration calibration;
  std::int64_t memory_runs = 0;  ///< that were compared, be they enough or not
  std::int64_t time_runs = 0;
};

/// Of each framework with enough runs of what must fit, or of the time of a step: the median of the logarithms of
/// measured over estimated, which no single run moves far, and how far from it nine in ten runs lie.
/// \pre the first group of each row is its framework
std::vector<OwnBias> own_biases(std::span<const Comparison> rows);

}  // namespace llmcalc::trust
