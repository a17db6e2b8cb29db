// Machines that clouds rent, and the accelerators in each.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace llmcalc::read {

/// What one machine holds.
struct Instance {
  std::string_view gpu;    ///< a name of its preset
  std::int64_t cards = 1;  ///< as its system counts them
};

/// "p5.48xlarge", "a3-highgpu-8g", "Standard_ND96isr_H100_v5", "v5e-8", whatever their case.
std::optional<Instance> find_instance(std::string_view name);

}  // namespace llmcalc::read
