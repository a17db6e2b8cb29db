// Caches in blocks of positions, as engines share them out.
#pragma once

#include "serving/engine.hpp"

namespace llmcalc::serving {

/// What a sequence holds of layers that do not see everything.
struct Holds {
  std::int64_t in_flight = 0;  ///< positions of a windowed layer beyond its window
  std::int64_t states = 1;     ///< of a recurrent layer
};

/// One pool of equal blocks that all groups of layers draw from (vLLM v1/core/kv_cache_utils.py and
/// v1/kv_cache_interface.py). Fills block, blocks, groups, needed and sequences_in_pool.
void share_pool(const Deployment& deployment, const Stage& stage, const Demand& demand, const Holds& holds,
                RankMemory& memory);

/// Each group of layers by itself; states as well, unless they have places of their own (RankMemory::seats).
/// \param window_share  of the positions of full layers that windowed ones are given; 0: as many as their window
void share_by_group(const Deployment& deployment, const Stage& stage, const Demand& demand, double window_share,
                    RankMemory& memory);

}  // namespace llmcalc::serving
