#include "llmcalc/timing/energy.hpp"

namespace llmcalc::timing {

std::optional<quantity::Power> server_power(const spec::Accelerator& gpu) {
  if (!gpu.tdp_watts) return std::nullopt;
  return quantity::watts(*gpu.tdp_watts * server_power_over_rating);
}

quantity::Energy facility_energy(quantity::Seconds accelerator_time, quantity::Power power, double pue) {
  return power * accelerator_time * pue;
}

}  // namespace llmcalc::timing
