#include "api/accelerators.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::api {

std::vector<spec::Accelerator> larger_than(const std::optional<spec::Accelerator>& present,
                                           const read::Catalogue& catalogue) {
  std::vector<spec::Accelerator> larger;
  if (!present) return larger;
  for (auto& preset : catalogue.accelerators()) {
    auto& gpu = preset.accelerator;
    const bool in_data_centres = gpu.memory_type.starts_with("HBM") && gpu.peaks.bf16;
    if (in_data_centres && gpu.vendor == present->vendor && gpu.memory_usable > present->memory_usable) {
      larger.push_back(std::move(gpu));
    }
  }
  std::ranges::stable_sort(larger, {}, &spec::Accelerator::memory_usable);
  return larger;
}

}  // namespace llmcalc::api
