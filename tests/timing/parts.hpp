// Accelerators and layouts of the time tests, with the links of their data sheets.
#pragma once

#include "llmcalc/spec/accelerator.hpp"
#include "llmcalc/spec/layout.hpp"

#include <cstdint>
#include <optional>

namespace llmcalc::timing_test {

inline spec::Accelerator part(double link, double pcie, std::optional<double> network_gbps, bool multicast = true) {
  spec::Accelerator gpu;
  gpu.generation.abilities = std::uint64_t{multicast} << static_cast<unsigned>(spec::Ability::multicast);
  gpu.link = quantity::gigabytes_per_second(link);
  gpu.pcie = quantity::gigabytes_per_second(pcie);
  gpu.gpus_per_node = 8;
  gpu.network_gbps = network_gbps;
  return gpu;
}

inline spec::Accelerator a100() { return part(300, 31.5, 200); }
inline spec::Accelerator h100() { return part(450, 63, 400); }
inline spec::Accelerator b200() { return part(900, 63, 400); }
inline spec::Accelerator v100() { return part(150, 15.8, 50); }

/// Tensor parallelism inside, data parallelism over the rest, in nodes of eight.
inline spec::Layout spread_over(std::int64_t gpus, std::int64_t tp, std::int64_t pp = 1) {
  spec::Layout layout;
  layout.gpus = gpus;
  layout.nodes = gpus < 8 ? 1 : gpus / 8;
  layout.tp = tp;
  layout.pp = pp;
  layout.dp = gpus / (tp * pp);
  return layout;
}

}  // namespace llmcalc::timing_test
