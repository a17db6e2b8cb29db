#include "dialects/shell/accelerator_labels.hpp"

#include "dialects/core/names.hpp"
#include "quantity/text.hpp"
#include "read/instances.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace llmcalc::dialects {
namespace {

struct Label {
  std::string_view part;  ///< of the value
  std::string_view gpu;
};

/// cloud.google.com/gke-accelerator, nvidia.com/gpu.product (NVIDIA's feature discovery), amd.com/gpu.product-name: the
/// longer names first.
constexpr Label products[] = {{"gb200", "gb200"},
                              {"h200", "h200"},
                              {"h100-pcie", "h100-pcie"},
                              {"h100-nvl", "h100-nvl"},
                              {"h100", "h100-sxm"},
                              {"a100-80gb-pcie", "a100-80-pcie"},
                              {"a100-80gb", "a100-80"},
                              {"a100-sxm4-80gb", "a100-80"},
                              {"a100", "a100-40"},
                              {"b200", "b200"},
                              {"h20", "h20"},
                              {"l40s", "l40s"},
                              {"l40", "l40"},
                              {"l4", "l4"},
                              {"a10g", "a10g"},
                              {"a10", "a10"},
                              {"a40", "a40"},
                              {"a30", "a30"},
                              {"rtx-a6000", "rtx-a6000"},
                              {"rtx-6000-ada", "rtx-6000-ada"},
                              {"rtx-pro-6000", "rtx-pro-6000-blackwell"},
                              {"rtx-5090", "rtx-5090"},
                              {"rtx-4090", "rtx-4090"},
                              {"rtx-3090", "rtx-3090"},
                              {"t4", "t4"},
                              {"v100", "v100-16"},
                              {"mi355x", "mi355x"},
                              {"mi325x", "mi325x"},
                              {"mi300x", "mi300x"}};

}  // namespace

std::string_view gpu_of_label(std::string_view key, std::string_view value) {
  if (key.find("instance-type") != key.npos) return find_instance(value).value_or(Instance{}).gpu;
  const bool about_gpu = key.find("gpu") != key.npos || key.find("accelerator") != key.npos;
  if (!about_gpu) return {};
  const std::string text = quantity::to_lower(value);
  const auto* found =
      std::ranges::find_if(products, [&](const Label& label) { return text.find(label.part) != text.npos; });
  return found == std::end(products) ? std::string_view() : found->gpu;
}

}  // namespace llmcalc::dialects
