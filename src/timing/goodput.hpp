// What failures leave of a run: how often it saves, and which share of its time makes progress that lasts.
//
//   16,384 GPUs, one of which fails every 3.1 h; a checkpoint takes 2.8 s:
//   save every 4 min, restart in 10 min -> 93 % of the time is useful
#pragma once

#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/training.hpp"
#include "program/program.hpp"

#include <string_view>

namespace llmcalc::timing {

/// Time between failures of one accelerator with its share of the node: 16,384 H100 were interrupted unexpectedly 419
/// times in 54 days.
inline constexpr quantity::Seconds default_mtbf = quantity::days(54.0 * 16384.0 / 419.0);
inline constexpr std::string_view default_mtbf_source =
    "Llama 3: 419 interruptions in 54 days on 16,384 H100 (Grattafiori et al. 2024, arXiv:2407.21783 table 5)";

/// Between Llama 3 (2 TB/s sustained for 2,048 nodes: Grattafiori et al. 2024, arXiv:2407.21783 section 3.3.1) and
/// BLOOM (2.3 TB in 40 s from 48 nodes: stas00/ml-engineering training/fault-tolerance).
inline constexpr quantity::Bandwidth default_storage_bandwidth_per_node = quantity::gigabytes_per_second(1.0);
inline constexpr std::string_view default_storage_source =
    "1 GB/s a node, as Llama 3 and BLOOM had (arXiv:2407.21783 section 3.3.1; stas00/ml-engineering)";

/// On more than 10,000 GPUs it took less than 10 minutes on average to notice a failure and to find its node, and at
/// most 15 until the lost work was done again (MegaScale: Jiang et al. 2024, arXiv:2402.15627 section 6.3). Lost work
/// is counted by itself.
inline constexpr quantity::Seconds default_restart = quantity::seconds(600.0);
inline constexpr std::string_view default_restart_source = "10 min, as MegaScale (Jiang et al. 2024, arXiv:2402.15627)";

/// Bytes that a run must save to go on where it was: trained weights, their masters and the optimizer's states, each
/// once whatever the number of ranks. Megatron's bf16 recipe comes to 2 + 4 + 8 bytes a parameter (BLOOM-176B: 2.3 TB).
quantity::Bytes checkpoint_size(const program::Program& program, const spec::Training& training);

/// Training between two checkpoints that loses least: sqrt(2dM) (1 + sqrt(d/2M)/3 + (d/2M)/9) - d for d < 2M, else M
/// (Daly 2006, doi:10.1016/j.future.2004.11.016 equation 37; its first factor alone is Young 1974).
/// \param save  d, one checkpoint \param mtbf  M, of the whole run; where infinite, so is the interval
quantity::Seconds best_interval(quantity::Seconds save, quantity::Seconds mtbf);

/// Useful time over wall time where failures are exponential and may also strike while saving and restarting:
/// t / (M exp(R/M) (exp((t + d)/M) - 1)) (Daly 2006, equation 20).
/// \pre 0 < interval < infinity \param restart  R, from a failure to the next step
double goodput(quantity::Seconds interval, quantity::Seconds save, quantity::Seconds mtbf, quantity::Seconds restart);

}  // namespace llmcalc::timing
