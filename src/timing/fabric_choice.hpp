// Which measured fabric stands for an accelerator's own links.
#pragma once

#include "llmcalc/spec/accelerator.hpp"
#include "timing/fabric_curves.hpp"

namespace llmcalc::timing {

/// Whether peers reach each other by more than the host's PCIe.
bool has_fabric(const spec::Accelerator& gpu);

/// The measured fabric of the same or the next slower NVLink; the rest of the difference is bandwidth. Fabrics of other
/// vendors have no reduction in the switch, like NVLink 3.
const FabricCurves& link_curves(const spec::Accelerator& gpu);

quantity::Bandwidth link_bandwidth(const spec::Accelerator& gpu);
quantity::Bandwidth board_bandwidth(const spec::Accelerator& gpu);  ///< of PCIe

}  // namespace llmcalc::timing
