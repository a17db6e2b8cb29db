// What llama.cpp computes in: buffers that grow with the cells of the cache and those that do not.
#pragma once

#include "serving/engine.hpp"

namespace llmcalc::serving {

/// Cells of the cache for a demand, and how many of them layers with a window have.
struct Cells {
  std::int64_t full = 0;
  std::int64_t windowed = 0;
  std::int64_t sequences = 1;
};

/// src/llama-kv-cache-iswa.cpp and llama-context.cpp: lengths come out in whole 256ths.
Cells cells_of(const Deployment& deployment, const Demand& demand, std::int64_t window);

/// Bytes of keys and values of one layer, or of its recurrent state.
quantity::Bytes layer_cache(const Deployment& deployment, const LayerCache& layer, const Demand& demand);

/// \param copies  of the mask, one for each micro-batch on its way through several cards
quantity::Bytes compute_buffer(const Deployment& deployment, const Demand& demand, std::int64_t copies);

/// What proposes tokens is a context of its own (common/speculative.cpp) and holds logits and hidden states of a pass
/// as well: Gemma 4 12B with its MTP layer shows 1.51 GiB in the place of 0.78 (unsloth pull 11043).
quantity::Bytes draft_buffer(const Deployment& deployment);

}  // namespace llmcalc::serving
