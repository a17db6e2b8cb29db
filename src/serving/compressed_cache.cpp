// The cache of layers whose keys stand for several positions, as vLLM shares it out: keys and what an indexer scores
// them by in blocks of 256 positions, and as windows the last positions of every layer and what a key is made of.
#include "llmcalc/quantity/checked.hpp"
#include "serving/inner/engines.hpp"
#include "serving/inner/vllm.hpp"

#include <algorithm>
#include <variant>

namespace llmcalc::serving {

using quantity::Bytes;
using quantity::ceil_divide;
using quantity::product;

namespace {

constexpr std::int64_t block_of_keys = 256;
constexpr std::int64_t block_of_window = 64;

/// Tensors that take as many blocks of a sequence as each other; a tuple has one of each width.
struct Tuples {
  std::vector<std::int64_t> pages;  ///< bytes of a block of each width
  std::int64_t count = 0;           ///< of layers
  std::int64_t blocks = 0;          ///< of a sequence

  std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (const std::int64_t page : pages) sum += page;
    return sum * count;
  }
};

const spec::GroupedAttention* mixer_of(const Deployment& deployment, const CacheGroup& group) {
  const auto& kept = deployment.layers_kept;
  const auto found = std::ranges::find(kept, group.layer);
  if (found == kept.end()) return nullptr;
  const auto kind = static_cast<std::size_t>(found - kept.begin());
  return std::get_if<spec::GroupedAttention>(&deployment.question.model.kinds[kind].mixer);
}

/// Sums up the tensors of a stage, in the order of vLLM's groups (v1/core/kv_cache_utils.py,
/// group_and_unify_kv_cache_specs).
class Groups {
 public:
  Groups(const Deployment& deployment, std::int64_t length, std::int64_t in_flight)
      : deployment_(deployment), length_(length), in_flight_(in_flight) {
    full_.blocks = ceil_divide(length, block_of_keys);
  }

  void add(const CacheGroup& group) {
    windowed_ += group.layers;
    const spec::GroupedAttention* a = mixer_of(deployment_, group);
    if (a == nullptr) return;
    head_dim_ = a->head_dim;
    if (a->positions_a_key <= 1) return;
    full_.pages.push_back(page(block_of_keys / a->positions_a_key * key_bytes(a->head_dim)));
    full_.count = std::max(full_.count, group.layers);
    // A sparse key is made of its own positions and those of the one before (vLLM models/deepseek_v4/compressor.py).
    const std::int64_t overlap = a->index_dim > 0 ? 2 : 1;
    const std::int64_t block = a->index_dim > 0 ? 4 : 8;
    Tuples states{{page(product(block, 2 * overlap * a->head_dim, 4))}, group.layers, 0};
    if (a->index_dim > 0) {
      full_.pages.push_back(page(block_of_keys / a->positions_a_key * index_bytes(a->index_dim)));
      states.pages.push_back(page(product(block, 2 * overlap * a->index_dim, 4)));
    }
    states.blocks = within(overlap * a->positions_a_key, block);
    states_.push_back(std::move(states));
  }

  /// The groups that blocks are drawn for, windows in as many as keep tuples short
  /// (_get_kv_cache_groups_uniform_groups).
  std::vector<Tuples> shared() const {
    const std::int64_t together = tuples_together();
    const std::int64_t groups = std::max<std::int64_t>(ceil_divide(windowed_, together), 1);
    std::vector<Tuples> all{full_};
    const Tuples window{{page(block_of_window * key_bytes(head_dim_))},
                        ceil_divide(windowed_, groups),
                        within(deployment_.question.model.shape.window.window, block_of_window)};
    all.insert(all.end(), static_cast<std::size_t>(groups), window);
    all.insert(all.end(), states_.begin(), states_.end());
    return all;
  }

 private:
  bool is_narrow() const { return deployment_.setup.cache == spec::CacheType::fp8; }

  /// FlashMLA reads pages of whole 576 bytes, FlashInfer of 512 (v1/attention/backends/mla/sparse_swa.py, alignment).
  std::int64_t page(std::int64_t bytes) const { return quantity::ceil_to(bytes, is_narrow() ? 576 : 512); }

  /// Keys in 8 bits have their places in 16, and eight bytes of scales (v1/kv_cache_interface.py).
  std::int64_t key_bytes(std::int64_t head_dim) const { return is_narrow() ? head_dim + 64 + 8 : 2 * head_dim; }

  std::int64_t within(std::int64_t window, std::int64_t block) const {
    return ceil_divide(std::min(window - 1 + in_flight_, length_), block) + 1;
  }

  /// Lengths of a bundle that waste least, of which the longest is taken (_approximate_gcd).
  std::int64_t tuples_together() const {
    std::int64_t best = std::max<std::int64_t>(full_.count, 1);
    std::int64_t least = -1;
    for (std::int64_t together = best; together <= std::max(windowed_, best); ++together) {
      const auto waste = [&](std::int64_t count) { return quantity::ceil_to(count, together) - count; };
      std::int64_t wasted = waste(full_.count) + waste(windowed_);
      for (const Tuples& states : states_) wasted += waste(states.count);
      if (least >= 0 && wasted > least) continue;
      least = wasted;
      best = together;
    }
    return best;
  }

  const Deployment& deployment_;
  std::int64_t length_;
  std::int64_t in_flight_;
  std::int64_t windowed_ = 0;
  std::int64_t head_dim_ = 0;
  Tuples full_;
  std::vector<Tuples> states_;
};

/// Bytes of a block in all layers: since 0.25 the groups lie over each other, before as many tuples as the longest
/// group has, of all widths of the keys (_get_kv_cache_config_packed; _max_memory_usage_bytes_from_groups).
std::int64_t block_bytes(const std::vector<Tuples>& groups, bool packed) {
  const Tuples& longest = std::ranges::max(groups, {}, [&](const Tuples& g) { return packed ? g.bytes() : g.count; });
  return packed ? longest.bytes()
                : groups.front().bytes() / std::max<std::int64_t>(groups.front().count, 1) * longest.count;
}

}  // namespace

bool compresses_keys(const spec::Model& model) {
  return std::ranges::any_of(model.kinds, [](const spec::LayerKind& kind) {
    const auto* grouped = std::get_if<spec::GroupedAttention>(&kind.mixer);
    return grouped != nullptr && grouped->positions_a_key > 1;
  });
}

void share_compressed(const Deployment& deployment, const Stage& stage, const Demand& demand, std::int64_t in_flight,
                      RankMemory& memory) {
  Groups sums(deployment, demand.length, in_flight);
  for (const CacheGroup& group : stage.cache) sums.add(group);
  const std::vector<Tuples> groups = sums.shared();
  const bool packed = deployment.setup.release >= of_vllm::packs_groups;
  const std::int64_t bytes = std::max<std::int64_t>(block_bytes(groups, packed), 1);
  std::int64_t one = 0;
  double weighed = 0.0;
  for (const Tuples& group : groups) {
    one += group.blocks;
    weighed += static_cast<double>(group.blocks) * static_cast<double>(group.bytes());
  }
  for (const CacheGroup& group : stage.cache) {
    const bool full = group.layer.reach == Reach::full;
    memory.groups.push_back({group, 1, (full ? groups.front() : groups[1]).blocks, quantity::bytes(bytes)});
  }
  memory.block = block_of_keys;
  memory.blocks = std::max<std::int64_t>(quantity::in_bytes(memory.pool) / bytes, 0);
  // Blocks of a sequence were weighed by their groups' bytes before (get_max_concurrency_for_kv_cache_config of 0.23).
  const auto of_keys = static_cast<double>(std::max<std::int64_t>(groups.front().bytes(), 1));
  const double of_one = packed ? static_cast<double>(one) : weighed / of_keys;
  memory.sequences_in_pool = of_one > 0.0 ? static_cast<double>(memory.blocks) / of_one : 0.0;
  const std::int64_t spared = (demand.sequences - 1) * (shared_positions(deployment, demand) / block_of_keys);
  const std::int64_t all = quantity::checked_subtract(product(demand.sequences, one), spared);
  memory.needed = quantity::bytes(product(quantity::checked_add(all, 1), bytes));
}

}  // namespace llmcalc::serving
