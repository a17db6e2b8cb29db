#include "read/shell/accelerator_labels.hpp"

#include "quantity/text.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>

namespace llmcalc::read {
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

/// node.kubernetes.io/instance-type: aws.amazon.com/ec2/instance-types, cloud.google.com/compute/docs/gpus,
/// learn.microsoft.com/azure/virtual-machines/sizes.
constexpr Label instances[] = {{"p6-b200", "b200"},
                               {"p5en.", "h200"},
                               {"p5e.", "h200"},
                               {"p5.", "h100-sxm"},
                               {"p4de.", "a100-80"},
                               {"p4d.", "a100-40"},
                               {"p3.", "v100-16"},
                               {"g6e.", "l40s"},
                               {"g6.", "l4"},
                               {"g5.", "a10g"},
                               {"g4dn.", "t4"},
                               {"a4-highgpu", "b200"},
                               {"a3-ultragpu", "h200"},
                               {"a3-", "h100-sxm"},
                               {"a2-ultragpu", "a100-80"},
                               {"a2-", "a100-40"},
                               {"g2-", "l4"},
                               {"_h200_", "h200"},
                               {"_h100_", "h100-sxm"},
                               {"ads_a100_", "a100-80"},
                               {"amsr_a100_", "a100-80"},
                               {"asr_v4", "a100-40"},
                               {"_mi300x_", "mi300x"}};

std::string_view gpu_in(std::span<const Label> labels, std::string_view text) {
  const auto found =
      std::ranges::find_if(labels, [&](const Label& label) { return text.find(label.part) != text.npos; });
  return found == labels.end() ? std::string_view() : found->gpu;
}

}  // namespace

std::string_view gpu_of_label(std::string_view key, std::string_view value) {
  const std::string text = quantity::to_lower(value);
  if (key.find("instance-type") != key.npos) return gpu_in(instances, text);
  const bool about_gpu = key.find("gpu") != key.npos || key.find("accelerator") != key.npos;
  return about_gpu ? gpu_in(products, text) : std::string_view();
}

}  // namespace llmcalc::read
