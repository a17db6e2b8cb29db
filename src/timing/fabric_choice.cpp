#include "timing/fabric_choice.hpp"

namespace llmcalc::timing {

bool has_fabric(const spec::Accelerator& gpu) { return gpu.link && (!gpu.pcie || *gpu.link > *gpu.pcie); }

const FabricCurves& link_curves(const spec::Accelerator& gpu) {
  if (!has_fabric(gpu)) return pcie();
  if (gpu.vendor != "NVIDIA") return nvlink3();
  for (const FabricCurves* curves : {&nvlink5(), &nvlink4()}) {
    if (*gpu.link >= curves->link) return *curves;
  }
  return nvlink3();
}

quantity::Bandwidth board_bandwidth(const spec::Accelerator& gpu) { return gpu.pcie.value_or(pcie().link); }

quantity::Bandwidth link_bandwidth(const spec::Accelerator& gpu) {
  return has_fabric(gpu) ? *gpu.link : board_bandwidth(gpu);
}

}  // namespace llmcalc::timing
