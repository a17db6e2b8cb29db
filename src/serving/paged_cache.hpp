// Caches in blocks of positions, as engines share them out.
#pragma once

#include "llmcalc/serving/engine.hpp"

namespace llmcalc::serving {

/// One pool of equal blocks that all groups of layers draw from (vLLM v1/core/kv_cache_utils.py and
/// v1/kv_cache_interface.py). Fills block, blocks, groups, needed and sequences_in_pool.
/// \param in_flight  positions that a windowed layer holds beyond its window
void share_pool(const Deployment& deployment, const Stage& stage, const Demand& demand, std::int64_t in_flight,
                RankMemory& memory);

/// Each group of layers by itself.
/// \param window_share  of the positions of full layers that windowed ones are given; 0: as many as their window
void share_by_group(const Deployment& deployment, const Stage& stage, const Demand& demand, double window_share,
                    RankMemory& memory);

}  // namespace llmcalc::serving
