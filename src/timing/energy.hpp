// What a run draws from the grid.
#pragma once

#include "llmcalc/quantity/energy.hpp"
#include "llmcalc/spec/accelerator.hpp"

#include <optional>
#include <string_view>

namespace llmcalc::timing {

/// Watts that a server draws in training for each that its accelerators are rated at: a node of eight H100 (700 W each)
/// is rated at 10.2 kW and drew 76 % of it (Newkirk et al. 2025, arXiv:2506.14551). GPT-3's V100 of 300 W came to 330
/// W, a factor of 1.1 (Patterson et al. 2021, arXiv:2104.10350 table 4).
inline constexpr double server_power_over_rating = 0.76 * 10.2e3 / (8 * 700.0);
inline constexpr std::string_view server_power_source =
    "measured: 8 H100 with their server draw 76 % of 10.2 kW (Newkirk et al. 2025, arXiv:2506.14551)";

/// Draw of the building over that of its servers: of the data centre that trained GPT-3.
inline constexpr double default_pue = 1.1;
inline constexpr std::string_view default_pue_source = "Patterson et al. 2021, arXiv:2104.10350 table 4";

/// Mean draw of one accelerator with its share of the server; empty where its rating is not known.
inline std::optional<quantity::Power> server_power(const spec::Accelerator& gpu) {
  if (!gpu.tdp_watts) return std::nullopt;
  return quantity::watts(*gpu.tdp_watts * server_power_over_rating);
}

/// accelerator time * power * PUE (Patterson et al. 2021, arXiv:2104.10350 section 2.5)
inline quantity::Energy facility_energy(quantity::Seconds accelerator_time, quantity::Power power, double pue) {
  return power * accelerator_time * pue;
}

}  // namespace llmcalc::timing
