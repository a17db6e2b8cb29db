#include "serving/engine.hpp"

#include "layers/widths.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "program/stage_blocks.hpp"
#include "quantity/text.hpp"
#include "serving/forward.hpp"
#include "serving/inner/engines.hpp"
#include "spec/file_tensors.hpp"
#include "spec/node.hpp"
#include "spec/traits.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::serving {

using layers::half_width;
using quantity::Bytes;
using quantity::product;

std::span<const EngineRow> all_engines() {
  static const EngineRow rows[] = {
#include "engines/rows.inc"
  };
  return rows;
}

const EngineRow& row_of(spec::Engine engine) { return *std::ranges::find(all_engines(), engine, &EngineRow::engine); }

EngineRelease parse_release(std::string_view text) {
  while (!text.empty() && !quantity::is_digit(text.front())) text.remove_prefix(1);
  EngineRelease release;
  release.major = quantity::take_number<std::int64_t>(text).value_or(0);
  if (text.empty() || (text.front() != '.' && text.front() != '-')) return release;
  text.remove_prefix(1);
  release.minor = quantity::take_number<std::int64_t>(text).value_or(0);
  if (text.empty() || (text.front() != '.' && text.front() != '-')) return release;
  text.remove_prefix(1);
  release.patch = quantity::take_number<std::int64_t>(text).value_or(0);
  return release;
}

Bytes RankMemory::held() const {
  auto sum = quantity::bytes(0);
  for (const MemoryLine& holding : holdings) sum += holding.size;
  return sum;
}

std::int64_t adapter_rank(const spec::Question& question) {
  constexpr std::int64_t usual = 16;  // vLLM config/lora.py, max_lora_rank
  return question.training.adapter.rank > 0 ? question.training.adapter.rank : usual;
}

namespace {

/// Inputs and outputs of a block's matrices, which a pair of factors has as often as its rank.
std::int64_t matrix_edges(const layers::Block& block) {
  std::int64_t edges = 0;
  for (const layers::Weight& weight : block.weights) {
    const Use role = spec::use_of(weight.role);
    const bool adapted = role != Use::vector && role != Use::router && !is_expert(weight);
    if (adapted) edges += weight.rows + weight.columns;
  }
  return edges;
}

/// Low-rank adapters beside every matrix of a stage's layers, resident in 16 bits.
quantity::Bytes adapter_bytes(const spec::Question& rank, const program::Program& program, std::int64_t stage) {
  const std::int64_t adapters = rank.serving.options.max_loras;
  if (adapters == 0) return quantity::bytes(0);
  const std::int64_t width = adapter_rank(rank);
  std::int64_t edges = 0;
  for (const program::BlockRun& run : program::blocks_of_stage(program, stage)) {
    const bool is_layer = run.block >= 1 && run.block <= rank.model.kinds.size();
    if (is_layer) edges += run.count * matrix_edges(program.blocks[run.block]);
  }
  return quantity::bytes(product(adapters, width, edges, half_width));
}

/// The scheme of a checkpoint's MTP layers: what narrows to NVFP4 leaves them as they were (mtp*, model.layers.61* and
/// the like among ignore and exclude_modules of nvidia/*-NVFP4), in 16 bits or, of DeepSeek-V4, in FP8.
formats::Quant draft_quant(const spec::Question& rank) {
  const spec::Serving& serving = rank.serving;
  if (!formats::is_nvfp4(serving.quant) || serving.options.draft.kind != spec::DraftKind::mtp) return serving.quant;
  const bool was_fp8 =
      serving.file != nullptr && serving.file->said(spec::Role::attention_out, false, 0) == formats::Quant::fp8_block;
  return was_fp8 ? formats::Quant::fp8_block : formats::Quant::bf16;
}

/// Layers of the model's own kind that propose.
quantity::Bytes draft_bytes(const spec::Question& rank, const program::Program& program) {
  spec::Question own = rank;
  own.serving.quant = draft_quant(rank);
  const StageWeights last = stage_weights(own, program, program.stages - 1);
  const auto kind = rank.serving.options.draft.kind;
  if (last.layers.empty()) return quantity::bytes(0);
  // MTP reads the hidden state beside the token's embedding (DeepSeek-V3, arXiv:2412.19437 section 2.2), EAGLE-3 three
  // hidden states (arXiv:2503.01840 section 3.1).
  const std::int64_t inputs = kind == spec::DraftKind::mtp ? 2 : 3;
  const std::int64_t hidden = rank.model.shape.hidden;
  return last.layers.back().total() + quantity::bytes(product(inputs, hidden, hidden, half_width) / rank.layout.tp);
}

/// So many layers more that keep as many elements, among those that look back without limit. Layers that keep less
/// or more stand for as many as take the same bytes: pages are made equal by longer blocks (vLLM
/// v1/core/kv_cache_utils.py, unify_kv_cache_spec_page_size).
void add_layers(std::int64_t layers, const LayerCache& like, std::vector<CacheGroup>& groups) {
  const auto keeps = [](const CacheGroup& group) { return group.layer.reach == Reach::full; };
  const auto found = std::ranges::find_if(groups, keeps);
  if (found == groups.end()) return groups.push_back({like, layers});
  found->layers += quantity::ceil_divide(product(layers, like.elements), found->layer.elements);
}

/// The model that proposes runs on all tensor-parallel ranks, whole on each pipeline stage's last (vLLM
/// v1/spec_decode/draft_model.py takes the tensor-parallel size of the model that is served).
spec::Question draft_question(const spec::Question& question) {
  spec::Question draft = question;
  draft.model = question.serving.draft_model->model;
  draft.serving.quant = question.serving.draft_model->quant;
  draft.serving.draft_model = nullptr;
  draft.serving.options.draft = {};
  draft.serving.options.max_loras = 0;
  draft.layout.pp = draft.layout.ep = 1;
  draft.layout.etp = draft.layout.tp;
  return draft;
}

void add_draft_model(Deployment& deployment) {
  auto draft = std::make_shared<Deployment>(deploy(draft_question(deployment.question)));
  const Stage& alone = draft->stages.front();
  Stage& last = deployment.stages.back();
  last.draft = alone.weights.whole.total();
  if (!spec::reads_gguf(deployment.question.serving.engine)) {
    for (const CacheGroup& group : alone.cache) add_layers(group.layers, group.layer, last.cache);
  }
  deployment.draft = std::move(draft);
}

/// Draft that proposes tokens, on the last stage: a layer as the model's last with the projection in front of it, or a
/// model of its own. Its keys and values are kept beside those of the model's own layers.
void add_draft(const spec::Question& rank, const program::Program& program, Deployment& deployment) {
  if (rank.serving.options.draft.kind == spec::DraftKind::none) return;
  if (rank.serving.draft_model) return add_draft_model(deployment);
  Stage& last = deployment.stages.back();
  last.draft = draft_bytes(rank, program);
  // DeepSeek-V4's draft sees the last positions alone (config.json, the last of compress_ratios).
  const Reach reach = compresses_keys(rank.model) ? Reach::window : Reach::full;
  const auto keeps = [&](const CacheGroup& group) { return group.layer.reach == reach; };
  const auto found = std::ranges::find_if(last.cache, keeps);
  const bool on_torch = !spec::reads_gguf(rank.serving.engine);
  if (on_torch && found != last.cache.end()) ++found->layers;
}

/// Servers of the same engine that are asked for the first token of each prompt alone (vLLM
/// examples/online_serving/disaggregated_serving: max_tokens 1).
spec::Question prefill_question(const spec::Question& question) {
  spec::Question readers = question;
  auto& serving = readers.serving;
  auto& layout = readers.layout;
  layout.tp = serving.layout.prefill_tp.value_or(layout.tp);
  layout.dp = serving.layout.prefill_servers;
  const std::int64_t ranks = product(layout.tp, serving.layout.attention_dp);
  layout.ep = std::min(layout.ep, ranks);
  layout.etp = ranks / layout.ep;
  serving.layout.expert_tp = layout.etp;
  layout.gpus = product(layout.dp, ranks, layout.pp);
  layout.nodes = spec::usual_nodes(layout.gpus, spec::accelerators_per_node(question.gpu));
  serving.layout.prefill_servers = 0;
  serving.layout.prefill_tp.reset();
  serving.role = spec::ServerRole::prefill;
  return readers;
}

}  // namespace

Deployment deploy(const spec::Question& question) {
  const spec::Question rank = rank_question(question);
  const auto program = forward_program(question, {.fuses_projections = false});
  Deployment deployment{question, row_of(question.serving.engine).setup(question), {}, kept_by_kind(rank, program), {},
                        {}};
  for (std::int64_t stage = 0; stage < program.stages; ++stage) {
    Stage held{stage_weights(rank, program, stage), cache_groups(rank, program, stage), {}, {}};
    held.adapters = adapter_bytes(rank, program, stage);
    deployment.stages.push_back(std::move(held));
  }
  add_draft(rank, program, deployment);
  fit_to_cards(deployment);
  if (question.serving.role == spec::ServerRole::prefill) deployment.question.serving.load.output = 1;
  if (question.serving.layout.prefill_servers > 0)
    deployment.prefill = std::make_shared<Deployment>(deploy(prefill_question(question)));
  return deployment;
}

std::size_t rank_count(const Deployment& deployment) {
  if (!spec::reads_gguf(deployment.question.serving.engine)) return deployment.stages.size();
  return static_cast<std::size_t>(cards_of(deployment.question));
}

bool reserves(const Deployment& deployment) {
  const auto keeps = [](const LayerCache& layer) { return keeps_positions(layer) || keeps_state(layer); };
  return row_of(deployment.question.serving.engine).reserves && std::ranges::any_of(deployment.layers_kept, keeps);
}

RankMemory tightest_rank(const Deployment& deployment, const Demand& demand) {
  const EngineRow& row = row_of(deployment.question.serving.engine);
  const auto room = [](const RankMemory& memory) {  // a rank that has no layers keeps no sequence from the others
    const bool is_idle = memory.needed == quantity::bytes(0) && memory.pool >= quantity::bytes(0);
    return std::pair(is_idle, memory.pool - memory.needed);
  };
  RankMemory tightest = row.memory(deployment, 0, demand);
  for (std::size_t rank = 1; rank < rank_count(deployment); ++rank) {
    RankMemory other = row.memory(deployment, rank, demand);
    if (room(other) < room(tightest)) tightest = std::move(other);
  }
  return tightest;
}

Bytes total_memory(const spec::Question& question) {
  if (question.pricing.memory) return *question.pricing.memory;
  if (!question.gpu) return quantity::bytes(0);
  // A usable size that was read from a card is without what the driver keeps, as is what a person states.
  const Bytes kept = question.gpu->usable_verified ? quantity::bytes(0) : question.gpu->generation.driver_keeps;
  return question.gpu->memory_usable - kept;
}

Bytes visible_memory(const spec::Question& question) {
  return std::max(total_memory(question) - question.serving.other_usage, quantity::bytes(0));
}

}  // namespace llmcalc::serving
