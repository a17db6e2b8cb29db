#include "serving/inner/ggml_buffers.hpp"

#include "layers/widths.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "serving/inner/engines.hpp"

#include <algorithm>

namespace llmcalc::serving {

using layers::fp32_width;
using layers::half_width;
using quantity::Bytes;
using quantity::ceil_to;
using quantity::product;

namespace {

/// llama.cpp src/llama-context.cpp: GGML_PAD(cparams.n_ctx, 256).
constexpr std::int64_t cell_padding = 256;

/// Before May 2025 layers with a window kept all positions.
constexpr EngineRelease windowed_cache{5427, 0};

bool is_quantized(spec::CacheType type) { return type >= spec::CacheType::q8_0; }

/// Keys and values of the layer that has most of them, in 16 bits: what quantized ones are widened to, a layer at a
/// time.
std::int64_t widest_layer(const Deployment& deployment) {
  std::int64_t elements = 0;
  for (const Stage& stage : deployment.stages) {
    for (const CacheGroup& group : stage.cache) elements = std::max(elements, group.layer.elements);
  }
  return elements;
}

/// Of the mask a 16-bit number for each query of a pass and each cell, or as many scores a head in 32 bits.
std::int64_t bytes_per_cell(const Deployment& deployment, std::int64_t copies) {
  const std::int64_t ubatch = deployment.setup.batched_tokens;
  std::int64_t bytes = product(half_width, ubatch, copies);
  if (is_quantized(deployment.setup.cache)) bytes += half_width * widest_layer(deployment);
  if (!deployment.setup.flash) bytes += product(fp32_width, ubatch, deployment.question.model.shape.heads);
  return bytes;
}

/// What every pass holds, however many cells there are.
struct PassBuffer {
  Bytes logits;
  Bytes hidden;
};

PassBuffer pass_buffer(const Deployment& deployment) {
  const auto& shape = deployment.question.model.shape;
  const std::int64_t ubatch = deployment.setup.batched_tokens;
  return {quantity::bytes(product(fp32_width, ubatch, shape.vocab)),
          quantity::bytes(product(4 * fp32_width, ubatch, shape.hidden))};
}

}  // namespace

Cells cells_of(const Deployment& deployment, const Demand& demand, std::int64_t window) {
  Cells cells;
  cells.sequences = std::max(deployment.setup.slots, demand.sequences);
  const std::int64_t common = shared_positions(deployment, demand);
  const std::int64_t all = product(demand.length, demand.sequences) - common * (demand.sequences - 1);
  cells.full = ceil_to(all, cell_padding);
  const bool narrows = window > 0 && deployment.setup.release >= windowed_cache;
  const std::int64_t seen = product(window, cells.sequences) + deployment.setup.batched_tokens;
  cells.windowed = narrows ? ceil_to(std::min(cells.full, seen), cell_padding) : cells.full;
  return cells;
}

Bytes layer_cache(const Deployment& deployment, const LayerCache& layer, const Demand& demand) {
  const Cells cells = cells_of(deployment, demand, layer.window);
  const Bytes states = state_bytes(deployment.question, layer) * cells.sequences;
  if (!keeps_positions(layer)) return states;
  return states + position_bytes(deployment, layer) * (layer.reach == Reach::full ? cells.full : cells.windowed);
}

/// The flat part holds the logits of a whole pass in fp32 beside four tensors of the hidden state's width
/// (258.5 MiB of Llama-3-8B at 512 tokens: 250.5 of logits and 8 of hidden states; Gemma 4 12B with 255,232 cells
/// 821 MiB, unsloth pull 11043: 249 of mask, 512 of logits). Without flash attention scores take the logits' place,
/// which come after them.
Bytes compute_buffer(const Deployment& deployment, const Demand& demand, std::int64_t copies) {
  const std::int64_t cells = cells_of(deployment, demand, 0).full;
  const Bytes slope = quantity::bytes(product(cells, bytes_per_cell(deployment, copies)));
  const PassBuffer pass = pass_buffer(deployment);
  return pass.hidden + (deployment.setup.flash ? slope + pass.logits : std::max(slope, pass.logits));
}

Bytes draft_buffer(const Deployment& deployment) {
  const PassBuffer pass = pass_buffer(deployment.draft ? *deployment.draft : deployment);
  return pass.hidden + pass.logits;
}

}  // namespace llmcalc::serving
