#include "timing/inner/operation_curves.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/suggest.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

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

constexpr Board boards[] = {
#include "operations/boards.inc"
};

}  // namespace

std::span<const ProductCurve> product_curves() { return products; }
std::span<const AttentionCurve> attention_curves() { return attention; }
std::span<const LatentCurve> latent_curves() { return latent; }
std::span<const MixtureCurve> mixture_curves() { return mixtures; }
std::span<const AllReduceCurve> all_reduce_curves() { return all_reduce; }

std::string_view measured_relative(const spec::Accelerator& gpu) {
  const auto* itself = std::ranges::find(products, gpu.id, &ProductCurve::gpu);
  if (itself != std::end(products)) return itself->gpu;
  const auto* relative = std::ranges::find(products, gpu.rates.operations, &ProductCurve::gpu);
  if (relative != std::end(products)) return relative->gpu;
  std::vector<std::string_view> known;
  for (const Board& each : boards) known.push_back(each.gpu);
  throw quantity::BadInput("gpu",
                           "the rates " + quantity::quoted(gpu.rates.id) + " name operations of " +
                               quantity::quoted(gpu.rates.operations) + ", of which none were measured",
                           quantity::did_you_mean(gpu.rates.operations, known));
}

const Board& board_of(std::string_view measured) { return *std::ranges::find(boards, measured, &Board::gpu); }

}  // namespace llmcalc::timing
