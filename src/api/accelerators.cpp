#include "api/inner/accelerators.hpp"

#include "quantity/lists.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace llmcalc::api {

LargerParts::LargerParts(const std::optional<spec::Accelerator>& present, const read::Catalogue& catalogue)
    : catalogue_(catalogue) {
  if (present) ids_ = catalogue.on_stacks(present->vendor, present->memory_usable);
}

std::optional<spec::Accelerator> LargerParts::next() {
  while (at_ < ids_.size()) {
    auto gpu = catalogue_.accelerator(ids_[at_++], "--gpu").accelerator;
    if (gpu.peaks.bf16) return gpu;
  }
  return std::nullopt;
}

std::vector<spec::Accelerator> larger_than(const std::optional<spec::Accelerator>& present,
                                           const read::Catalogue& catalogue) {
  std::vector<spec::Accelerator> larger;
  LargerParts parts(present, catalogue);
  while (auto gpu = parts.next()) larger.push_back(std::move(*gpu));
  return larger;
}

constexpr std::array<std::string_view, 10> usual_names{
    "rtx-4060", "rtx-3060-12", "rtx-5060-ti-16",         "rtx-4090", "rtx-5090",
    "l40s",     "h100-sxm",    "rtx-pro-6000-blackwell", "h200-sxm", "b200-sxm"};

std::vector<spec::Accelerator> usual_cards(const read::Catalogue& catalogue) {
  return quantity::mapped(usual_names, [&](auto name) { return catalogue.accelerator(name, "--gpu").accelerator; });
}

}  // namespace llmcalc::api
