#include "api/inner/accelerators.hpp"

#include "quantity/lists.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace llmcalc::api {
namespace {

/// One of each capacity that people have, the smallest first.
constexpr std::array<std::string_view, 10> usual_names{
    "rtx-4060", "rtx-3060-12", "rtx-5060-ti-16",         "rtx-4090", "rtx-5090",
    "l40s",     "h100-sxm",    "rtx-pro-6000-blackwell", "h200-sxm", "b200-sxm"};

/// The same of AMD's cards.
constexpr std::array<std::string_view, 3> radeon_names{"rx-7900-xtx", "radeon-ai-pro-r9700", "radeon-pro-w7900"};

bool is_stacked(const spec::Accelerator& gpu) { return gpu.memory_type.starts_with("HBM"); }

bool is_rented(const spec::Accelerator& gpu) { return gpu.price_per_hour.has_value(); }

/// Parts of data centres that there is a price for, or all of them where nobody knows one.
std::vector<spec::Accelerator> stacked_parts(const spec::Accelerator& present, const read::Catalogue& catalogue) {
  std::vector<spec::Accelerator> parts;
  for (const auto id : catalogue.on_stacks(present.vendor, present.memory_usable)) {
    auto gpu = catalogue.accelerator(id, "--gpu").accelerator;
    if (gpu.peaks.bf16) parts.push_back(std::move(gpu));
  }
  if (std::ranges::any_of(parts, is_rented)) std::erase_if(parts, [](const auto& gpu) { return !is_rented(gpu); });
  return parts;
}

}  // namespace

std::vector<spec::Accelerator> larger_than(const std::optional<spec::Accelerator>& present,
                                           const read::Catalogue& catalogue) {
  if (!present) return {};
  auto larger = stacked_parts(*present, catalogue);
  if (is_stacked(*present)) return larger;
  const auto add = [&](std::string_view id) {
    auto gpu = catalogue.accelerator(id, "--gpu").accelerator;
    const bool is_larger = gpu.vendor == present->vendor && gpu.memory_usable > present->memory_usable;
    if (is_larger && !is_stacked(gpu)) larger.push_back(std::move(gpu));
  };
  std::ranges::for_each(usual_names, add);
  std::ranges::for_each(radeon_names, add);
  std::ranges::stable_sort(larger, {}, &spec::Accelerator::memory_usable);
  return larger;
}

std::vector<spec::Accelerator> usual_cards(const read::Catalogue& catalogue) {
  return quantity::mapped(usual_names, [&](auto name) { return catalogue.accelerator(name, "--gpu").accelerator; });
}

}  // namespace llmcalc::api
