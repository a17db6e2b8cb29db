#include "serving/cache.hpp"

#include "layers/widths.hpp"
#include "llmcalc/formats/ggml_type.hpp"
#include "program/stage_blocks.hpp"
#include "quantity/lists.hpp"
#include "serving/engine.hpp"

#include <algorithm>
#include <array>
#include <variant>

namespace llmcalc::serving {

namespace {

using formats::GgmlType;
using layers::Cached;
using layers::fp32_width;
using layers::half_width;
using spec::CacheType;

/// Adds what the layer's own code keeps: in 16 bits, as the whole forward program, but for the matrices of a
/// recurrence.
void add_kept(const program::Program& program, const layers::Block& block, bool narrows_index, LayerCache& layer) {
  for (const layers::Tensor& tensor : block.tensors) {
    const std::int64_t size = quantity::in_bytes(tensor.size);
    switch (tensor.kept) {
      case Cached::nothing: break;
      case Cached::positions: layer.elements += size / (half_width * program.tokens); break;
      case Cached::memory: layer.memory_elements += size / half_width; break;
      case Cached::index:
        (narrows_index ? layer.index_elements : layer.elements) += size / (half_width * program.tokens);
        break;
      case Cached::recurrence: layer.state_elements += size / fp32_width; break;
      case Cached::convolution: layer.inputs_elements += size / half_width; break;
    }
  }
}

const spec::GroupedAttention* heads_of(const spec::Mixer& mixer) {
  if (const auto* grouped = std::get_if<spec::GroupedAttention>(&mixer)) return grouped;
  const auto* state = std::get_if<spec::StateSpace>(&mixer);
  return state != nullptr && state->beside ? &*state->beside : nullptr;
}

void add_reach(const spec::Question& question, const spec::LayerKind& kind, LayerCache& layer) {
  if (!keeps_positions(layer)) layer.reach = Reach::state;
  if (std::holds_alternative<spec::LatentAttention>(kind.mixer)) layer.latent = true;
  const spec::GroupedAttention* grouped = heads_of(kind.mixer);
  if (grouped == nullptr) return;
  layer.heads = std::max<std::int64_t>(grouped->kv_heads / question.layout.tp, 1);
  layer.window = grouped->window;
  if (grouped->window > 0) layer.reach = question.model.shape.window.chunked ? Reach::chunk : Reach::window;
}

/// Cache of a layer's positions, without its state.
LayerCache positions_of(LayerCache layer) {
  layer.state_elements = layer.inputs_elements = layer.memory_elements = 0;
  return layer;
}

/// The cache of an encoder's output, in blocks apart from the decoder's (vLLM v1/core/single_type_kv_cache_manager.py,
/// CrossAttentionManager).
LayerCache memory_of(const LayerCache& layer, std::int64_t positions) {
  return {.reach = Reach::memory, .window = positions, .elements = layer.memory_elements, .heads = layer.heads};
}

LayerCache state_of(const LayerCache& layer) {
  return {.reach = Reach::state, .state_elements = layer.state_elements, .inputs_elements = layer.inputs_elements};
}

void count(const LayerCache& layer, std::int64_t layers, std::vector<CacheGroup>& groups) {
  const auto same = std::ranges::find(groups, layer, &CacheGroup::layer);
  if (same == groups.end()) {
    groups.push_back({layer, layers});
  } else {
    same->layers += layers;
  }
}

struct CacheFormat {
  CacheType type;
  GgmlType format;
};

/// int8 and fp8 take a byte; their scales, one a tensor, are not counted (vLLM v1/kv_cache_interface.py).
constexpr std::array formats{
    CacheFormat{CacheType::bf16, GgmlType::bf16},     CacheFormat{CacheType::f16, GgmlType::f16},
    CacheFormat{CacheType::f32, GgmlType::f32},       CacheFormat{CacheType::q8_0, GgmlType::q8_0},
    CacheFormat{CacheType::q5_1, GgmlType::q5_1},     CacheFormat{CacheType::q5_0, GgmlType::q5_0},
    CacheFormat{CacheType::q4_1, GgmlType::q4_1},     CacheFormat{CacheType::q4_0, GgmlType::q4_0},
    CacheFormat{CacheType::iq4_nl, GgmlType::iq4_nl},
};

}  // namespace

std::string_view name_of(Reach reach) {
  constexpr std::array<std::string_view, 5> names{"full", "window", "chunk", "memory", "state"};
  return names.at(static_cast<std::size_t>(reach));
}

std::vector<LayerCache> kept_by_kind(const spec::Question& question, const program::Program& program) {
  std::vector<LayerCache> kept;
  for (std::size_t kind = 0; kind < question.model.kinds.size(); ++kind) {
    LayerCache layer;
    add_kept(program, program.blocks[kind + 1], row_of(question.serving.engine).narrows_index, layer);
    add_reach(question, question.model.kinds[kind], layer);
    if (layer.memory_elements > 0) layer.memory_elements /= question.model.shape.encoder_positions;
    kept.push_back(layer);
  }
  return kept;
}

std::vector<CacheGroup> cache_groups(const spec::Question& question, const program::Program& program,
                                     std::int64_t stage) {
  const auto kept = kept_by_kind(question, program);
  std::vector<CacheGroup> groups;
  for (const program::BlockRun& run : program::blocks_of_stage(program, stage)) {
    const bool is_layer = run.block >= 1 && run.block <= question.model.kinds.size();
    if (!is_layer) continue;
    const LayerCache& layer = kept[run.block - 1U];
    if (keeps_positions(layer)) count(positions_of(layer), run.count, groups);
    if (layer.memory_elements > 0) count(memory_of(layer, question.model.shape.encoder_positions), run.count, groups);
    if (keeps_state(layer)) count(state_of(layer), run.count, groups);
  }
  return groups;
}

std::int64_t positions_read(const LayerCache& layer, std::int64_t length) {
  switch (layer.reach) {
    case Reach::full: return length;
    case Reach::window: return std::min(length, layer.window);
    case Reach::chunk: return length == 0 ? 0 : (length - 1) % layer.window + 1;
    case Reach::memory: return layer.window;
    case Reach::state: break;
  }
  return 0;
}

quantity::Bytes cache_bytes(CacheType type, std::int64_t elements) {
  if (type == CacheType::fp8 || type == CacheType::int8) return quantity::bytes(elements);
  // Codes of four bits and an E4M3 scale for 16 of them (vLLM v1/kv_cache_interface.py).
  if (type == CacheType::nvfp4) return quantity::bytes(elements / 2 + elements / 16);
  const auto* found = std::ranges::find(formats, type, &CacheFormat::type);
  return formats::storage_bytes(found->format, elements);
}

std::int64_t index_bytes(std::int64_t elements) {
  constexpr std::int64_t scaled_together = 128;
  return elements + quantity::ceil_divide(elements, scaled_together) * fp32_width;
}

quantity::Bytes position_bytes(CacheType type, const LayerCache& layer) {
  return cache_bytes(type, layer.elements) + quantity::bytes(index_bytes(layer.index_elements));
}

quantity::Bytes bytes_per_token(const std::vector<CacheGroup>& groups, CacheType type) {
  return quantity::sum_of(groups, [&](const CacheGroup& group) {
    return group.layer.reach == Reach::full ? group.layers * position_bytes(type, group.layer) : quantity::bytes(0);
  });
}

quantity::Bytes bytes_within_windows(const std::vector<CacheGroup>& groups, CacheType type) {
  return quantity::sum_of(groups, [&](const CacheGroup& group) {
    const bool limited = group.layer.reach == Reach::window || group.layer.reach == Reach::chunk;
    return limited ? group.layers * cache_bytes(type, group.layer.elements) : quantity::bytes(0);
  });
}

}  // namespace llmcalc::serving
