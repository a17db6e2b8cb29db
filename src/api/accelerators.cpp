#include "api/accelerators.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace llmcalc::api {

std::vector<spec::Accelerator> larger_than(const std::optional<spec::Accelerator>& present,
                                           const read::Catalogue& catalogue) {
  std::vector<spec::Accelerator> larger;
  if (!present) return larger;
  for (auto& preset : catalogue.on_stacks(present->vendor)) {
    auto& gpu = preset.accelerator;
    const bool in_data_centres = gpu.memory_type.starts_with("HBM") && gpu.peaks.bf16;
    if (in_data_centres && gpu.vendor == present->vendor && gpu.memory_usable > present->memory_usable) {
      larger.push_back(std::move(gpu));
    }
  }
  std::ranges::stable_sort(larger, {}, &spec::Accelerator::memory_usable);
  return larger;
}

std::vector<spec::Accelerator> usual_cards(const read::Catalogue& catalogue) {
  constexpr std::array<std::string_view, 10> names{
      "rtx-4060", "rtx-3060-12", "rtx-5060-ti-16",         "rtx-4090", "rtx-5090",
      "l40s",     "h100-sxm",    "rtx-pro-6000-blackwell", "h200-sxm", "b200-sxm"};
  std::vector<spec::Accelerator> cards;
  for (const auto name : names) cards.push_back(catalogue.accelerator(name, "--gpu").accelerator);
  return cards;
}

}  // namespace llmcalc::api
