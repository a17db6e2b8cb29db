// What the layers of a rank keep of each sequence: keys and values, latents, or the state of a recurrence. Read off the
// tensors that the layers' own code keeps in generation.
#pragma once

#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/question.hpp"
#include "program/program.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace llmcalc::serving {

/// How far back a layer looks.
enum class Reach {
  full,
  window,  ///< the last tokens
  chunk,   ///< the token's own chunk of the sequence
  memory,  ///< what an encoder read, the same positions of each sequence
  state,   ///< everything, in a state of fixed size
};

std::string_view name_of(Reach reach);

/// Cache of one sequence in one layer, on this rank.
struct LayerCache {
  Reach reach = Reach::full;
  std::int64_t window = 0;           ///< positions of a window or chunk, or that an encoder read
  std::int64_t elements = 0;         ///< of a position: keys and values, or the latent
  std::int64_t index_elements = 0;   ///< of a position: what an indexer scores it by, in 8 bits
  std::int64_t memory_elements = 0;  ///< of a position that an encoder read
  std::int64_t heads = 0;            ///< of keys and values; 0 for latents
  std::int64_t state_elements = 0;   ///< of a sequence: the matrices of a recurrence
  std::int64_t inputs_elements = 0;  ///< and the inputs that its convolution still needs
  bool latent = false;

  friend bool operator==(const LayerCache&, const LayerCache&) = default;
};

/// True of a layer that keeps keys and values, or latents.
inline bool keeps_positions(const LayerCache& layer) { return layer.elements > 0; }

/// True of a layer that keeps a state: alone, or beside keys and values.
inline bool keeps_state(const LayerCache& layer) { return layer.state_elements + layer.inputs_elements > 0; }

/// Layers that keep alike.
struct CacheGroup {
  LayerCache layer;
  std::int64_t layers = 0;
};

/// Caches of each kind of layer of the model, positions and state together.
/// \param program  forward_program() of the same question
std::vector<LayerCache> kept_by_kind(const spec::Question& question, const program::Program& program);

/// The cache of a pipeline stage, the groups in the order of their first layers: positions and states apart.
/// \param program  forward_program() of the same question
std::vector<CacheGroup> cache_groups(const spec::Question& question, const program::Program& program,
                                     std::int64_t stage);

/// Positions that one more token reads in a layer, `length` tokens into a sequence.
std::int64_t positions_read(const LayerCache& layer, std::int64_t length);

/// Bytes of `elements` keys and values in a type of which `automatic` was replaced by what the engine takes.
/// \param heads  of keys and values; types with a scale a head need it
quantity::Bytes cache_bytes(spec::CacheType type, std::int64_t elements);

/// Bytes of what an indexer scores a position by: in 8 bits whatever the type of the cache, with a scale in 32 bits for
/// each 128 (vLLM model_executor/models/deepseek_v2.py, k_cache_head_dim; SGLang mem_cache/memory_pool.py,
/// index_k_with_scale_buffer; TensorRT-LLM _torch/attention_backend/sparse/dsa.py, DSACacheManager).
std::int64_t index_bytes(std::int64_t elements);

/// Bytes of a position in a layer.
quantity::Bytes position_bytes(spec::CacheType type, const LayerCache& layer);

/// Bytes of a position in all layers that keep positions, in groups that look back without limit.
quantity::Bytes bytes_per_token(const std::vector<CacheGroup>& groups, spec::CacheType type);

/// Bytes in groups with a window: what a position takes while it is in reach.
quantity::Bytes bytes_within_windows(const std::vector<CacheGroup>& groups, spec::CacheType type);

}  // namespace llmcalc::serving
