#include "serving/extras.hpp"

#include "llmcalc/layers/widths.hpp"
#include "llmcalc/program/stage_blocks.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/spec/question.hpp"

#include <algorithm>

namespace llmcalc::serving {

using layers::half_width;
using quantity::product;

namespace {

constexpr std::int64_t default_rank = 16;  // vLLM config/lora.py, max_lora_rank

/// Inputs and outputs of a block's matrices, which a pair of factors has as often as its rank.
std::int64_t matrix_edges(const layers::Block& block) {
  std::int64_t edges = 0;
  for (const layers::Weight& weight : block.weights) {
    const Role role = role_of(weight);
    const bool adapted = role != Role::vector && role != Role::router && !is_expert(weight);
    if (adapted) edges += weight.rows + weight.columns;
  }
  return edges;
}

}  // namespace

quantity::Bytes adapter_bytes(const spec::Question& rank, const program::Program& program, std::int64_t stage) {
  const std::int64_t adapters = rank.serving.options.max_loras;
  if (adapters == 0) return quantity::bytes(0);
  const std::int64_t width = rank.training.adapter.rank > 0 ? rank.training.adapter.rank : default_rank;
  std::int64_t edges = 0;
  for (const program::BlockRun& run : program::blocks_of_stage(program, stage)) {
    const bool is_layer = run.block >= 1 && run.block <= rank.model.kinds.size();
    if (is_layer) edges += run.count * matrix_edges(program.blocks[run.block]);
  }
  return quantity::bytes(product(adapters, width, edges, half_width));
}

quantity::Bytes draft_bytes(const spec::Question& rank, const StageWeights& last) {
  const auto kind = rank.serving.options.draft.kind;
  if (kind == spec::DraftKind::none || last.layers.empty()) return quantity::bytes(0);
  // MTP reads the hidden state beside the token's embedding (DeepSeek-V3, arXiv:2412.19437 section 2.2), EAGLE-3 three
  // hidden states (arXiv:2503.01840 section 3.1).
  const std::int64_t inputs = kind == spec::DraftKind::mtp ? 2 : 3;
  const std::int64_t hidden = rank.model.shape.hidden;
  return last.layers.back().total() + quantity::bytes(product(inputs, hidden, hidden, half_width) / rank.layout.tp);
}

void add_draft_layer(std::vector<CacheGroup>& groups) {
  const auto keeps = [](const CacheGroup& group) { return group.layer.reach == Reach::full; };
  const auto found = std::ranges::find_if(groups, keeps);
  if (found != groups.end()) ++found->layers;
}

}  // namespace llmcalc::serving
