#include "serving/forward.hpp"

#include "frameworks/profile.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "program/build.hpp"
#include "serving/engine.hpp"

#include <algorithm>
#include <numeric>
#include <variant>

namespace llmcalc::serving {

namespace {

/// vLLM model_executor/layers/vocab_parallel_embedding.py, DEFAULT_VOCAB_PADDING_SIZE; SGLang has the same file.
constexpr std::int64_t vocabulary_padding = 64;

/// Heads and groups are repeated: of few key and value heads, or few groups of a recurrence, each rank holds as of as
/// many as there are ranks (vLLM model_executor/layers/mamba/mamba_utils.py, extra_groups_for_head_shards).
void repeat_heads(std::int64_t tp, spec::Model& model) {
  for (spec::LayerKind& kind : model.kinds) {
    if (auto* grouped = std::get_if<spec::GroupedAttention>(&kind.mixer)) {
      grouped->kv_heads = std::max(grouped->kv_heads, tp);
    }
    auto* state = std::get_if<spec::StateSpace>(&kind.mixer);
    if (state == nullptr) continue;
    if (state->shape.groups % tp != 0) state->shape.groups = tp;
    if (state->beside) state->beside->kv_heads = std::max(state->beside->kv_heads, tp);
  }
}

/// No gradients, no statistics of them, and only the last position of each sequence goes through the head.
frameworks::Profile inference_profile(const spec::Question& question, bool fuses_projections) {
  frameworks::Profile profile = frameworks::make_profile(question.training, question.gpu);
  profile.attention.fused_projections = fuses_projections;
  profile.mlp.fused_gate_and_up = fuses_projections;
  return profile;
}

}  // namespace

spec::Question rank_question(const spec::Question& question) {
  spec::Question rank = question;
  rank.training.method = spec::Method::inference;
  rank.training.framework = spec::Framework::generic;
  rank.layout.dp = 1;
  // What a model sees with is a GGUF file of its own (llama.cpp --mmproj).
  if (spec::reads_gguf(question.serving.engine)) rank.training.towers = spec::TowerUse::absent;
  repeat_heads(rank.layout.tp, rank.model);
  if (row_of(question.serving.engine).pads_vocabulary) {
    const std::int64_t rows = std::lcm(vocabulary_padding, rank.layout.tp);
    rank.model.shape.vocab = quantity::ceil_to(rank.model.shape.vocab, rows);
  }
  return rank;
}

program::Program forward_program(const spec::Question& question, const Forward& forward) {
  spec::Question rank = rank_question(question);
  rank.training.seq = forward.tokens;
  rank.training.micro_batch = forward.sequences;
  rank.training.cached = forward.cached;
  return program::build_program(rank, inference_profile(rank, forward.fuses_projections));
}

}  // namespace llmcalc::serving
