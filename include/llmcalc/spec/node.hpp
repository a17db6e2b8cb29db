// The machine that accelerators sit in.
#pragma once

#include "llmcalc/spec/accelerator.hpp"

#include <cstdint>
#include <optional>

namespace llmcalc::spec {

/// How many accelerators share a machine where nobody says: as many as in the accelerator's usual one, else eight, as
/// in NVIDIA's DGX and HGX.
inline std::int64_t accelerators_per_node(const std::optional<Accelerator>& gpu) {
  constexpr std::int64_t usual = 8;
  return gpu && gpu->gpus_per_node > 0 ? gpu->gpus_per_node : usual;
}

}  // namespace llmcalc::spec
