#include "laws/usual_mfu.hpp"

#include <fmt/format.h>

namespace llmcalc::laws {

namespace {

constexpr double share_of_ceiling = 0.5;

/// Median bf16 ceiling of the twelve parts measured with the MAMF finder (stas00/ml-engineering,
/// compute/accelerator/README.md).
constexpr double median_ceiling = 0.78;

}  // namespace

Usual usual_mfu(const spec::Accelerator& gpu) {
  const double ceiling = gpu.matmul_ceiling.value_or(median_ceiling);
  const std::string origin =
      gpu.matmul_ceiling ? fmt::format("{:.1f} % of peak measured, {}", 100.0 * ceiling, gpu.matmul_ceiling_source)
                         : fmt::format("{:.0f} % of peak, the median of measured parts", 100.0 * ceiling);
  return {share_of_ceiling * ceiling, fmt::format("half of the matrix-product ceiling ({})", origin)};
}

}  // namespace llmcalc::laws
