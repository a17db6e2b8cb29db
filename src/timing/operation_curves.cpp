#include "timing/operation_curves.hpp"

#include <algorithm>

namespace llmcalc::timing {

namespace {

constexpr ProductCurve products[] = {
#include "operations/products.inc"
};
constexpr AttentionCurve attention[] = {
#include "operations/attention.inc"
};
constexpr LatentCurve latent[] = {
#include "operations/latent.inc"
};
constexpr MixtureCurve mixtures[] = {
#include "operations/mixtures.inc"
};
constexpr AllReduceCurve all_reduce[] = {
#include "operations/all_reduce.inc"
};

struct Relative {
  std::string_view arch;  ///< begins with this
  std::string_view measured;
};

/// First match wins. Parts of other makers: shares of a part on which kernels are neither the newest nor tuned for one
/// generation; their error bars are wide.
constexpr Relative relatives[] = {
    {"Ampere GA100", "a100-80-sxm"},
    {"Hopper", "h100-sxm"},
    {"Blackwell Ultra", "b300-sxm"},
    {"Blackwell GB", "rtx-pro-6000-blackwell"},
    {"Blackwell", "b200-sxm"},
    {"Ada", "l40s"},
    {"Ampere", "l40s"},
    {"Turing", "l40s"},
    {"Apple", "l40s"},
    {"", "a100-80-sxm"},
};

/// HBM3e feeds Hopper's units half again as fast, so that other shares of it are reached.
constexpr double gigabytes_of_hbm3e = 4000;

}  // namespace

std::span<const ProductCurve> product_curves() { return products; }
std::span<const AttentionCurve> attention_curves() { return attention; }
std::span<const LatentCurve> latent_curves() { return latent; }
std::span<const MixtureCurve> mixture_curves() { return mixtures; }
std::span<const AllReduceCurve> all_reduce_curves() { return all_reduce; }

std::string_view measured_relative(const spec::Accelerator& gpu) {
  const auto* itself = std::ranges::find(products, gpu.id, &ProductCurve::gpu);
  if (itself != std::end(products)) return itself->gpu;
  const auto* found =
      std::ranges::find_if(relatives, [&](const Relative& row) { return gpu.arch.starts_with(row.arch); });
  const bool wide = gpu.memory_bandwidth >= quantity::gigabytes_per_second(gigabytes_of_hbm3e);
  return found->measured == "h100-sxm" && wide ? "h200-sxm" : found->measured;
}

}  // namespace llmcalc::timing
