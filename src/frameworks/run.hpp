// What a profile depends on.
#pragma once

#include "llmcalc/spec/accelerator.hpp"
#include "llmcalc/spec/training.hpp"

#include <optional>

namespace llmcalc::frameworks {

struct Run {
  const spec::Training& training;
  const std::optional<spec::Accelerator>& gpu;
};

}  // namespace llmcalc::frameworks
