// llama.cpp and what wraps it: layers are placed on cards one after another, with their part of the cache.
#include "layers/widths.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/spec/question.hpp"
#include "quantity/lists.hpp"
#include "serving/inner/candidates.hpp"
#include "serving/inner/engines.hpp"

#include <algorithm>

namespace llmcalc::serving {

using layers::fp32_width;
using layers::half_width;
using quantity::Bytes;
using quantity::bytes;
using quantity::ceil_to;
using quantity::product;
using spec::CardSplit;

namespace {

/// Cells of the cache for a demand, and how many of them layers with a window have.
struct Cells {
  std::int64_t full = 0;
  std::int64_t windowed = 0;
  std::int64_t sequences = 1;
};

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

/// Mask's 16-bit number for each query of a pass and each cell, or as many scores a head in 32 bits.
std::int64_t bytes_per_cell(const Deployment& deployment, std::int64_t copies) {
  const std::int64_t ubatch = deployment.setup.batched_tokens;
  std::int64_t bytes = product(half_width, ubatch, copies);
  if (is_quantized(deployment.setup.cache)) bytes += half_width * widest_layer(deployment);
  if (!deployment.setup.flash) bytes += product(fp32_width, ubatch, deployment.question.model.shape.heads);
  return bytes;
}

/// Buffer that every pass holds, however many cells there are.
struct PassBuffer {
  Bytes logits;
  Bytes hidden;
};

PassBuffer pass_buffer(const Deployment& deployment) {
  const auto& shape = deployment.question.model.shape;
  const std::int64_t ubatch = deployment.setup.batched_tokens;
  const std::int64_t outputs = shape.stack == spec::Stack::encoder ? shape.hidden : shape.vocab;
  return {quantity::bytes(product(fp32_width, ubatch, outputs)),
          quantity::bytes(product(4 * fp32_width, ubatch, shape.hidden))};
}

/// src/llama-kv-cache-iswa.cpp and llama-context.cpp (GGML_PAD(cparams.n_ctx, 256)): lengths come out in whole 256ths.
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

/// Bytes of keys and values of one layer, or of its recurrent state.
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
/// \param copies  of the mask, one for each micro-batch on its way through several cards
Bytes compute_buffer(const Deployment& deployment, const Demand& demand, std::int64_t copies) {
  const std::int64_t cells = cells_of(deployment, demand, 0).full;
  const Bytes slope = quantity::bytes(product(cells, bytes_per_cell(deployment, copies)));
  const PassBuffer pass = pass_buffer(deployment);
  return pass.hidden + (deployment.setup.flash ? slope + pass.logits : std::max(slope, pass.logits));
}

/// Drafts are a context of their own (common/speculative.cpp) and hold logits and hidden states of a pass
/// as well: Gemma 4 12B with its MTP layer shows 1.51 GiB in the place of 0.78 (unsloth pull 11043).
Bytes draft_buffer(const Deployment& deployment) {
  const PassBuffer pass = pass_buffer(deployment.draft ? *deployment.draft : deployment);
  return pass.hidden + pass.logits;
}

constexpr EngineRelease newest_build{10000, 0};
constexpr EngineRelease flash_by_default{6325, 0};  // common/common.h, flash_attn_type auto
constexpr EngineRelease four_slots{7250, 0};        // tools/server: -np -1 is four slots of one cache
constexpr EngineRelease fitted{7437, 0};            // --fit on (pull 16653 of 15 December 2025; issue 18097)
constexpr std::int64_t first_build_of_2024 = 2800;  // b2800 is of May 2024, and about 235 follow a month
constexpr std::int64_t builds_a_month = 235;

/// Builds by number, or by the month they are known by.
EngineRelease build_of(std::string_view version) {
  const EngineRelease stated = parse_release(version);
  constexpr std::int64_t first_year = 2000;
  constexpr std::int64_t last_year = 2100;
  if (stated.major < first_year) return newest_build;
  if (stated.major > last_year) return {stated.major, 0};
  const std::int64_t months = (stated.major - 2024) * 12 + stated.minor - 5;
  return {std::max<std::int64_t>(first_build_of_2024 + builds_a_month * months, 0), 0};
}

/// Where the layers stand: the first ones stay on the host where not all are on cards, and the head is the last.
struct Placement {
  std::int64_t layers = 0;
  std::int64_t first = 0;  ///< on a card
  std::int64_t cards = 1;

  /// The card of a layer; the head is layer number `layers`. -1: the host.
  std::int64_t card_of(std::int64_t layer) const {
    if (layer < first) return -1;
    return (layer - first) * cards / (layers + 1 - first);
  }
};

Placement place(const Deployment& deployment) {
  const auto& question = deployment.question;
  Placement placement;
  placement.layers = question.model.layer_count();
  placement.cards = question.serving.layout.split == CardSplit::layer ? cards_of(question) : 1;
  placement.first = deployment.setup.host_layers;
  return placement;
}

/// Shares of one card and of the host in all layers.
struct Shares {
  Bytes weights;
  Bytes cache;
  Bytes host;
};

bool leaves_experts(const Deployment& deployment, std::int64_t layer) { return layer < deployment.setup.host_experts; }

/// The cache of each layer, in order.
std::vector<Bytes> layer_caches(const Deployment& deployment, const Demand& demand) {
  const auto& model = deployment.question.model;
  std::vector<Bytes> caches;
  for (const std::uint8_t kind : model.layers) {
    caches.push_back(layer_cache(deployment, deployment.layers_kept.at(kind), demand));
  }
  return caches;
}

/// The tables stay on the host, where rows are looked up (llama-model.cpp, LLM_TENSOR_LAYER_INPUT); a head that is the
/// table is loaded a second time.
Bytes head_bytes(const WeightBytes& ends) {
  return (ends.head > bytes(0) ? ends.head : ends.table) + ends.other + ends.mlp;
}

Shares shares_of(const Deployment& deployment, std::int64_t card, const Demand& demand) {
  const Placement placement = place(deployment);
  const StageWeights& weights = deployment.stages.front().weights;
  const auto caches = layer_caches(deployment, demand);
  Shares shares;
  shares.host = weights.ends.table + weights.ends.lookups;
  for (std::int64_t i = 0; i < placement.layers; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const WeightBytes& layer = weights.layers[at];
    const Bytes experts = leaves_experts(deployment, i) ? layer.experts : bytes(0);
    shares.host += experts;
    const std::int64_t owner = placement.card_of(i);
    if (owner == card) {
      shares.weights += layer.total() - experts;
      shares.cache += caches[at];
    } else if (owner < 0) {
      shares.host += layer.total() - experts + caches[at];
    }
  }
  const std::int64_t owner = placement.card_of(placement.layers);
  if (owner == card) shares.weights += head_bytes(weights.ends) + deployment.stages.front().draft;
  if (owner < 0) shares.host += head_bytes(weights.ends);
  return shares;
}

/// Rows of each matrix are spread over the cards, or with them the heads and their cache.
void spread(const Deployment& deployment, std::int64_t card, Shares& shares) {
  const auto& question = deployment.question;
  const CardSplit split = question.serving.layout.split;
  const std::int64_t cards = cards_of(question);
  if (split == CardSplit::layer || cards == 1) return;
  shares.weights = bytes(quantity::ceil_divide(quantity::in_bytes(shares.weights), cards));
  if (split == CardSplit::tensor) shares.cache = bytes(quantity::ceil_divide(quantity::in_bytes(shares.cache), cards));
  if (split == CardSplit::row && card > 0) shares.cache = bytes(0);
}

/// Passes follow each other through the cards of a layer split, each with a mask of its own (llama-context.cpp,
/// n_copies).
std::int64_t mask_copies(const Deployment& deployment) {
  const auto& question = deployment.question;
  const bool pipelined = cards_of(question) > 1 && question.serving.layout.split == CardSplit::layer &&
                         place(deployment).first == 0 && deployment.setup.host_experts == 0;
  return pipelined ? 4 : 1;
}

/// Elements that a draft keeps of a cell: a head its own layer, a model (-md) all of its layers.
std::int64_t draft_elements(const Deployment& deployment) {
  std::int64_t elements = 0;
  if (deployment.draft) {
    for (const CacheGroup& group : deployment.draft->stages.front().cache)
      elements += group.layers * group.layer.elements;
    return elements;
  }
  for (const LayerCache& layer : deployment.layers_kept) elements = std::max(elements, layer.elements);
  return elements;
}

/// Cache of the draft, in 16 bits, with a mask of its own (-ctkd f16).
Bytes draft_cache(const Deployment& deployment, const Demand& demand) {
  if (deployment.question.serving.options.draft.kind == spec::DraftKind::none) return bytes(0);
  const std::int64_t elements = draft_elements(deployment);
  const std::int64_t cells = cells_of(deployment, demand, 0).full;
  return bytes(quantity::product(cells, 2 * elements + 2 * deployment.setup.batched_tokens));
}

/// CUDA with cuBLAS is taken to hold 330 MiB.
Bytes runtime_bytes(const spec::Question& question) {
  return question.runtime.context.value_or(question.gpu ? question.gpu->generation.ggml_context : quantity::mib(330));
}

/// An input that attends both ways is one pass, and no longer than one (tools/server, "input is too large to process").
void read_whole(const spec::Question& question, Setup& setup) {
  setup.reads_whole = true;
  if (question.serving.options.ubatch || setup.context <= setup.batched_tokens) return;
  setup.batched_tokens = setup.context;
  setup.assumptions.push_back("--ubatch " + std::to_string(setup.context) + ", since an input is read in one pass");
}

/// Layers of which -ngl counts the last ones and the head (llama-model.cpp, n_gpu_layers), and --n-cpu-moe the first.
void place_layers(const spec::Question& question, Setup& setup) {
  const auto& options = question.serving.options;
  const std::int64_t all = question.model.layer_count() + 1;
  setup.host_layers = std::max<std::int64_t>(all - options.gpu_layers.value_or(all), 0);
  setup.host_experts = std::min(options.cpu_experts, question.model.layer_count());
}

Setup llama_cpp_setup(const spec::Question& question) {
  const auto& options = question.serving.options;
  Setup setup;
  setup.release = build_of(question.serving.engine_version);
  setup.cache = question.serving.cache == spec::CacheType::automatic ? spec::CacheType::f16 : question.serving.cache;
  setup.context = model_limit(question);
  setup.shortens = question.serving.load.context == 0 && setup.release >= fitted;
  place_layers(question, setup);
  const bool is_open = !options.gpu_layers && options.cpu_experts == 0;
  const bool is_server = question.serving.load.prompt > 0;  // llama-bench, which writes without one, says -ngl 99
  const bool by_layer = question.serving.layout.split == CardSplit::layer;  // --fit moves nothing of rows and tensors
  if (is_open && is_server && by_layer && setup.release >= fitted) setup.moves = Moves::experts;
  setup.margin = quantity::mib(1024);  // --fit-target
  // src/llama-context.cpp: a pass is no longer than the batch that it is a part of (-b).
  setup.batched_tokens = std::min(options.ubatch.value_or(512), options.batched_tokens.value_or(2048));
  setup.slots = options.slots.value_or(setup.release >= four_slots ? 4 : 1);
  setup.max_sequences = setup.slots;
  if (question.model.shape.stack == spec::Stack::encoder) read_whole(question, setup);
  // Quantized keys and values need the fused kernel.
  setup.flash = options.flash.value_or(setup.release >= flash_by_default || setup.cache >= spec::CacheType::q8_0);
  return setup;
}

/// Context that Ollama gives a model where nobody asks for one: 2,048 before 0.6; 4,096; and from 0.15.5 on more where
/// the cards together are sold with 24 or 48 GB (docs/context-length.mdx at 948f693; issue 14073 has the notes of the
/// release). Never more than the model was trained with (llm/server.go, "requested context size too large for model").
std::int64_t ollama_context(const spec::Question& question) {
  struct Tier {
    quantity::Bytes cards;
    std::int64_t context;
  };
  constexpr Tier tiers[] = {{quantity::bytes(48'000'000'000), 262'144}, {quantity::bytes(24'000'000'000), 32'768}};
  constexpr std::int64_t least = 4096;
  constexpr EngineRelease longer{0, 6};
  constexpr EngineRelease by_memory{0, 16};  // 0.15.5: of a release major and minor are known
  const EngineRelease release = parse_release(question.serving.engine_version);
  const bool is_newest = release == EngineRelease{};
  const auto trained = model_limit(question);
  if (!is_newest && release < longer) return std::min<std::int64_t>(2048, trained);
  if ((!is_newest && release < by_memory) || !question.gpu) return std::min(least, trained);
  const auto cards = cards_of(question) * question.gpu->memory_nominal;
  const auto* tier = quantity::find_if_or_null(tiers, [&](const Tier& each) { return cards >= each.cards; });
  return std::min(tier == nullptr ? least : tier->context, trained);
}

Setup ollama_setup(const spec::Question& question) {
  const auto& options = question.serving.options;
  Setup setup = llama_cpp_setup(question);
  setup.release = newest_build;
  setup.slots = options.slots.value_or(1);
  setup.max_sequences = setup.slots;
  setup.flash = options.flash.value_or(true);
  setup.shortens = false;
  setup.moves = options.gpu_layers ? Moves::nothing : Moves::layers;
  setup.margin = bytes(0);
  if (question.serving.load.context > 0) return setup;
  setup.context = ollama_context(question);
  setup.assumptions.push_back("--context " + std::to_string(setup.context) +
                              ", Ollama's own for the memory of the cards: num_ctx says another");
  return setup;
}

RankMemory llama_cpp_memory(const Deployment& deployment, std::size_t rank, const Demand& demand) {
  const auto card = static_cast<std::int64_t>(rank);
  Shares shares =
      shares_of(deployment, deployment.question.serving.layout.split == CardSplit::layer ? card : 0, demand);
  spread(deployment, card, shares);
  RankMemory memory;
  memory.capacity = memory.limit = visible_memory(deployment.question);
  memory.holdings.push_back({"weights", "weights", shares.weights, false,
                             "layers on this card, and the head on the last", "llama.cpp src/llama-quant.cpp"});
  memory.holdings.push_back({"compute", "compute buffer", compute_buffer(deployment, demand, mask_copies(deployment)),
                             false, "mask and scores a cell, logits and hidden states a pass",
                             "llama.cpp src/llama-context.cpp, graph_reserve"});
  const Bytes draft = draft_cache(deployment, demand);
  if (draft > bytes(0)) {
    memory.holdings.push_back({"compute_draft", "compute buffer of the draft", draft_buffer(deployment), false,
                               "logits and hidden states of a pass", "llama.cpp common/speculative.cpp"});
    memory.holdings.push_back({"draft", "cache of the draft", draft, false, "its layers in 16 bits and a mask",
                               "llama.cpp common/speculative.cpp"});
  }
  memory.holdings.push_back({"context", "context, cuBLAS", runtime_bytes(deployment.question), true, "330 MiB",
                             "llama.cpp on CUDA with cuBLAS"});
  memory.pool = memory.limit - memory.held();
  memory.needed = shares.cache;
  memory.host = shares.host;
  memory.hosted = host_has_room(deployment, memory.host);
  if (deployment.stages.front().cache.empty()) keep_nothing(deployment, memory);
  if (shares.cache > bytes(0)) memory.sequences_in_pool = std::max(memory.pool / shares.cache, 0.0);
  for (const CacheGroup& group : deployment.stages.front().cache) {
    const Cells cells = cells_of(deployment, demand, group.layer.window);
    const std::int64_t held = group.layer.reach == Reach::full ? cells.full : cells.windowed;
    const bool state = group.layer.reach == Reach::state;
    const Bytes cell = state ? state_bytes(deployment.question, group.layer) : position_bytes(deployment, group.layer);
    memory.groups.push_back({group, group.layers, state ? 1 : held, cell});
  }
  return memory;
}

}  // namespace

#include "engines/llama_cpp_row.inc"
#include "engines/ollama_row.inc"

}  // namespace llmcalc::serving
