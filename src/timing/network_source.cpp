#include "timing/inner/fabric_curves.hpp"
#include "timing/network.hpp"

#include <fmt/format.h>

#include <string_view>

namespace llmcalc::timing {

namespace {

std::string link_source(const spec::Accelerator& gpu) {
  const FabricCurves& curves = link_curves(gpu);
  const double own = quantity::in_gigabytes_per_second(link_bandwidth(gpu));
  const double measured = quantity::in_gigabytes_per_second(curves.link);
  std::string text = fmt::format("in a node: NCCL measured on {} (NVIDIA AIConfigurator)", curves.name);
  if (own != measured) text += fmt::format(", scaled from {:g} to {:g} GB/s a link", measured, own);
  return text;
}

}  // namespace

std::string network_source(const spec::Accelerator& gpu, const spec::Layout& layout) {
  if (layout.nodes == 1) return link_source(gpu);
  const bool known = layout.inter_node_gbps || gpu.network_gbps;
  const std::string_view whose = layout.inter_node_gbps ? "--inter-node"
                                 : known                ? "typical of the accelerator"
                                                        : "assumed";
  return fmt::format("{}; between nodes: {:g} Gbit/s a node ({}) at {:.0f} %", link_source(gpu),
                     node_gigabits(gpu, layout), whose, 100.0 * network_efficiency);
}

}  // namespace llmcalc::timing
