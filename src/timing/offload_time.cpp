#include "timing/offload_time.hpp"

#include <algorithm>

namespace llmcalc::timing {

using quantity::Bytes;
using quantity::seconds;
using quantity::Seconds;

namespace {

/// PCIe 4.0 x16, of the parts whose preset names none.
constexpr quantity::Bandwidth usual_pcie = quantity::gigabytes_per_second(31.5);

/// Pinned copies reach 24 of 31.5 GB/s (stas00/ml-engineering, network/benchmarks, PCIe 4.0 row).
constexpr double pcie_efficiency = 0.77;

/// A host updates 10 B parameters in 2.57 s and 1 B in 0.22 s with CPU-Adam (Ren et al. 2021, ZeRO-Offload,
/// arXiv:2101.06840 table 4); the accelerators of a node share it.
constexpr double host_parameters_per_second = 10e9 / 2.57;

Seconds over_pcie(const spec::Accelerator& gpu, Bytes size) {
  return size / quantity::bytes_per_second(pcie_efficiency * in_bytes_per_second(gpu.pcie.value_or(usual_pcie)));
}

}  // namespace

Seconds streaming(const program::Offload& offload, const spec::Accelerator& gpu, const WeightTraffic& weights,
                  Bytes saved, const StageTime& stage) {
  auto size = quantity::bytes(0);
  if (offload.weights) size += weights.weights + weights.expert_weights;
  if (offload.activations) size += saved;
  if (size == quantity::bytes(0)) return {};
  const Seconds once = over_pcie(gpu, size);
  const Seconds backward = stage.recompute.total() + stage.backward.total();
  return std::max(seconds(0), once - stage.forward.total()) + std::max(seconds(0), once - backward);
}

Seconds host_update(const program::Offload& offload, const spec::Accelerator& gpu, const WeightTraffic& weights) {
  if (!offload.optimizer) return {};
  const auto parameters = static_cast<double>(in_parameters(weights.updated_parameters));
  const auto sharers = static_cast<double>(gpu.gpus_per_node);
  constexpr std::int64_t half_width = 2;
  const Bytes one_way = quantity::bytes(half_width * in_parameters(weights.updated_parameters));
  return seconds(parameters * sharers / host_parameters_per_second) + 2.0 * over_pcie(gpu, one_way);
}

}  // namespace llmcalc::timing
