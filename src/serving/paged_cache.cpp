// Caches in blocks of positions, as engines share them out.
#include "llmcalc/quantity/checked.hpp"
#include "serving/inner/engines.hpp"

#include <algorithm>
#include <cmath>

namespace llmcalc::serving {

using quantity::Bytes;
using quantity::ceil_divide;
using quantity::in_bytes;

namespace {

/// Layers of a group: those of the smallest kind, unless the kinds are about as large (vLLM v1/core/kv_cache_utils.py,
/// _get_kv_cache_groups_uniform_page_size).
std::int64_t group_size(const std::vector<CacheGroup>& kinds) {
  const auto [least, most] = std::ranges::minmax(kinds, {}, &CacheGroup::layers);
  return 2 * most.layers < 3 * least.layers ? most.layers : least.layers;
}

/// Blocks that hold one sequence in one group; a windowed layer's first block is not its window's first position.
std::int64_t blocks_of(const LayerCache& layer, std::int64_t length, const Holds& holds, std::int64_t block) {
  switch (layer.reach) {
    case Reach::full: return ceil_divide(length, block);
    case Reach::window: return ceil_divide(std::min(layer.window - 1 + holds.in_flight, length), block) + 1;
    case Reach::chunk: return ceil_divide(std::min(layer.window + holds.in_flight, length), block);
    case Reach::memory: return ceil_divide(layer.window, block);
    case Reach::state: break;
  }
  return holds.states;
}

/// The largest page of a block of positions, and the block: where layers keep a state, blocks grow until one holds it
/// (vLLM platforms/interface.py, update_block_size_for_backend).
struct Page {
  Bytes bytes;
  std::int64_t block = 1;
};

Page common_page(const Deployment& deployment, const std::vector<CacheGroup>& kinds) {
  Bytes position = quantity::bytes(0);
  Bytes state = quantity::bytes(0);
  for (const CacheGroup& kind : kinds) {
    if (kind.layer.reach == Reach::state) {
      state = std::max(state, state_bytes(deployment.question, kind.layer));
    } else {
      position = std::max(position, position_bytes(deployment, kind.layer));
    }
  }
  const std::int64_t step = deployment.setup.block;
  if (position == quantity::bytes(0)) return {state, step};
  const std::int64_t grown = step * std::max<std::int64_t>(ceil_divide(in_bytes(state), in_bytes(position) * step), 1);
  return {position * grown, grown};
}

/// Positions of a layer that fill a page: layers whose positions are a whole part of the largest ones' hold that many
/// times as many of them; others leave the rest of the page empty (vLLM v1/core/kv_cache_utils.py,
/// unify_kv_cache_spec_page_size).
std::int64_t block_of(const Deployment& deployment, const LayerCache& layer, const Page& page) {
  if (layer.reach == Reach::state) return page.block;
  const std::int64_t own = in_bytes(position_bytes(deployment, layer)) * page.block;
  const bool divides = own > 0 && in_bytes(page.bytes) % own == 0;
  return divides ? page.block * (in_bytes(page.bytes) / own) : page.block;
}

}  // namespace

void keep_nothing(const Deployment& deployment, RankMemory& memory) {
  memory.sequences_in_pool = static_cast<double>(deployment.setup.max_sequences);
}

void share_pool(const Deployment& deployment, const Stage& stage, const Demand& demand, const Holds& holds,
                RankMemory& memory) {
  const auto& kinds = stage.cache;
  if (kinds.empty()) return keep_nothing(deployment, memory);
  const Page page = common_page(deployment, kinds);
  const std::int64_t size = group_size(kinds);
  const Bytes of_block = page.bytes * size;
  const std::int64_t dcp = deployment.question.serving.layout.dcp;
  const std::int64_t length = ceil_divide(demand.length, dcp);
  const std::int64_t common = shared_positions(deployment, demand) / dcp;
  std::int64_t one = 0;
  std::int64_t spared = 0;
  for (const CacheGroup& kind : kinds) {
    const std::int64_t pages = ceil_divide(kind.layers, size);
    const std::int64_t block = block_of(deployment, kind.layer, page);
    const std::int64_t blocks = blocks_of(kind.layer, length, holds, block);
    memory.groups.push_back({kind, pages, blocks, page.bytes});
    one += pages * blocks;
    if (kind.layer.reach == Reach::full) spared += pages * (common / block);
  }
  memory.block = page.block * dcp;
  memory.blocks = std::max<std::int64_t>(in_bytes(memory.pool) / in_bytes(of_block), 0);
  memory.sequences_in_pool = one > 0 ? static_cast<double>(memory.blocks) / static_cast<double>(one) : 0.0;
  // One block stands for none (vLLM v1/core/block_pool.py, null_block).
  const std::int64_t all =
      quantity::checked_subtract(quantity::product(demand.sequences, one), (demand.sequences - 1) * spared);
  memory.needed = quantity::bytes(quantity::product(quantity::checked_add(all, 1), in_bytes(of_block)));
}

void share_by_group(const Deployment& deployment, const Stage& stage, const Demand& demand, double window_share,
                    RankMemory& memory) {
  const std::int64_t block = deployment.setup.block;
  const std::int64_t length = ceil_divide(demand.length, deployment.question.serving.layout.dcp);
  const std::int64_t common = shared_positions(deployment, demand) / block * block;
  Bytes one = quantity::bytes(0);
  Bytes spared = quantity::bytes(0);
  for (const CacheGroup& kind : stage.cache) {
    if (kind.layer.reach == Reach::state) {
      if (!memory.seats) one += state_bytes(deployment.question, kind.layer) * kind.layers;
      memory.groups.push_back({kind, kind.layers, 1, state_bytes(deployment.question, kind.layer)});
      continue;
    }
    const Bytes position = position_bytes(deployment, kind.layer) * kind.layers;
    const bool full = kind.layer.reach == Reach::full;
    std::int64_t held = full || window_share > 0.0 ? length : std::min(length, kind.layer.window + block);
    if (!full && window_share > 0.0) held = std::llround(std::ceil(window_share * static_cast<double>(length)));
    if (kind.layer.reach == Reach::memory) held = kind.layer.window;
    const std::int64_t blocks = ceil_divide(held, block);
    memory.groups.push_back({kind, kind.layers, blocks, position_bytes(deployment, kind.layer) * block});
    one += position * (blocks * block);
    if (full) spared += position * common;
  }
  memory.block = block;
  const Bytes per_block = bytes_per_token(stage.cache, deployment.setup.cache) * block;
  if (per_block > quantity::bytes(0)) {
    memory.blocks = std::max<std::int64_t>(in_bytes(memory.pool) / in_bytes(per_block), 0);
  }
  if (stage.cache.empty()) keep_nothing(deployment, memory);
  if (one > quantity::bytes(0)) memory.sequences_in_pool = std::max(memory.pool / one, 0.0);
  if (memory.seats) {
    const auto seats = static_cast<double>(*memory.seats);
    memory.sequences_in_pool = one > quantity::bytes(0) ? std::min(memory.sequences_in_pool, seats) : seats;
    memory.seated = demand.sequences <= *memory.seats;
  }
  memory.needed = one * demand.sequences - spared * (demand.sequences - 1);
}

}  // namespace llmcalc::serving
