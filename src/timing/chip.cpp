#include "timing/inner/chip.hpp"

#include <algorithm>
#include <cmath>

namespace llmcalc::timing {

namespace {

/// How much of its measured relative's clock a part sustains that has less or more power for each FLOP.
double sustained_clock(const spec::Accelerator& gpu) {
  const spec::PowerRates& relative = gpu.rates.power;
  if (!gpu.tdp_watts || relative.watts <= 0.0) return 1.0;
  const double per_teraflop = relative.watts / quantity::in_teraflops(relative.peak);
  const double teraflops = quantity::in_teraflops(spec::half_peak(gpu));
  return std::pow(*gpu.tdp_watts / teraflops / per_teraflop, relative.exponent);
}

}  // namespace

bool is_measured_by_shape(const spec::Rates& rates) { return rates.products.tile > 0.0; }

Chip chip_of(const spec::Accelerator& gpu) {
  Chip chip{.rates = &gpu.rates, .units = gpu.units ? static_cast<double>(*gpu.units) : gpu.rates.units};
  if (!is_measured_by_shape(gpu.rates) && gpu.matmul_ceiling) {
    chip.ceiling = *gpu.matmul_ceiling;
    chip.has_measured = true;
    return chip;
  }
  chip.power = sustained_clock(gpu);
  const spec::ProductRates& products = gpu.rates.products;
  if (!is_measured_by_shape(gpu.rates)) chip.ceiling = std::min(products.best_tile, products.ceiling * chip.power);
  return chip;
}

MatrixRates matrix_rates(const Chip& chip) {
  const spec::ProductRates& alone = chip.rates->products;
  const spec::RunRates& run = chip.rates->run;
  if (!is_measured_by_shape(*chip.rates)) {
    const double ceiling = run.products * chip.ceiling;
    return {ceiling,        ceiling, alone.fill, alone.whole_waves, alone.narrow * (run.narrow / run.products),
            alone.four_bits};
  }
  const double best = std::max(alone.best_tile, alone.tile);
  const double tile = run.products * std::min(best, alone.tile * std::max(1.0, chip.power));
  const double ceiling = std::min(tile, run.products * run.large * alone.ceiling * chip.power);
  return {tile, ceiling, alone.fill, alone.whole_waves, alone.narrow * (run.narrow / run.products), alone.four_bits};
}

}  // namespace llmcalc::timing
