#include "read/words/serving_checks.hpp"

#include "spec/draft_model.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

namespace llmcalc::read {
namespace {

/// False of models whose layers are recurrences alone.
bool attends(const spec::LayerKind& kind) {
  const auto* state = std::get_if<spec::StateSpace>(&kind.mixer);
  return state != nullptr ? state->beside.has_value() : !std::holds_alternative<spec::NoMixer>(kind.mixer);
}

bool has_attention(const spec::Model& model) { return std::ranges::any_of(model.kinds, attends); }

std::optional<Uneven> uneven_attention(const spec::Shape& shape, std::int64_t tp) {
  if (shape.heads % tp != 0) return Uneven{"heads", "heads are spread over the ranks one by one"};
  const bool even = shape.kv_heads >= tp ? shape.kv_heads % tp == 0 : tp % shape.kv_heads == 0;
  if (shape.latent.kv_rank == 0 && !even) return Uneven{"kv_heads", "each rank needs as many of them as the others"};
  const bool dense = shape.moe.experts == 0 || shape.moe.dense_layers > 0 || shape.moe.every > 1;
  if (dense && shape.ffn % tp != 0) return Uneven{"ffn", "its columns are cut evenly"};
  return std::nullopt;
}

void check_cut(const QuestionDraft& draft) {
  const auto uneven = uneven_cut(draft.question.model, draft.question.layout.tp);
  if (uneven) draft.contradiction("tp", uneven->term, uneven->why);
}

/// llama.cpp's kernel for flash attention alone reads values of fewer bits (src/llama-context.cpp,
/// llama_init_from_model: "V cache quantization requires flash_attn").
void check_cache(const QuestionDraft& draft) {
  const auto& serving = draft.question.serving;
  const bool narrow = serving.cache >= spec::CacheType::q8_0;
  if (spec::reads_gguf(serving.engine) && narrow && !serving.options.flash.value_or(true)) {
    draft.contradiction("flash", "kv_dtype", "a cache of fewer bits needs flash attention");
  }
}

void check_experts(const QuestionDraft& draft) {
  const spec::MoeShape& moe = draft.question.model.shape.moe;
  const spec::Layout& layout = draft.question.layout;
  if (moe.experts == 0) {
    if (draft.given("ep") && layout.ep > 1) draft.contradiction("ep", "model", "it has no experts");
    return;
  }
  if (moe.experts % layout.ep != 0) draft.contradiction("ep", "experts", "each rank holds as many as the others");
  if (moe.expert_ffn % layout.etp != 0) {
    draft.contradiction(draft.given("expert_tp") ? "expert_tp" : "tp", "expert_ffn", "its columns are cut evenly",
                        "--ep spreads whole experts");
  }
}

void check_stages(const QuestionDraft& draft) {
  if (draft.question.layout.pp > draft.question.model.layer_count()) {
    draft.contradiction("pp", "layers", "a stage has one layer at least");
  }
}

/// Ranks that share a sequence's cache are some of those that share its heads (vLLM config/parallel.py:
/// tensor_parallel_size must be divisible by decode_context_parallel_size), those that would hold the same ones
/// (config/model.py, verify_with_parallel_config: at most tp / kv_heads).
void check_context_ranks(const QuestionDraft& draft) {
  const std::int64_t tp = draft.question.layout.tp;
  const std::int64_t dcp = draft.question.serving.layout.dcp;
  if (tp % dcp != 0) {
    draft.contradiction("dcp", "tp", "each group of tensor-parallel ranks is cut into groups of that size");
  }
  const spec::Shape& shape = draft.question.model.shape;
  if (dcp > 1 && shape.latent.kv_rank == 0 && dcp * shape.kv_heads > tp) {
    draft.contradiction("dcp", "kv_heads", "ranks share a cache that they hold copies of, at most tp / kv_heads");
  }
}

/// llama.cpp has no ranks: cards take layers, rows or tensors.
void check_placement(const QuestionDraft& draft) {
  const bool on_ggml = spec::reads_gguf(draft.question.serving.engine);
  const spec::Layout& layout = draft.question.layout;
  const std::pair<std::string_view, std::int64_t> ranks[] = {
      {"dcp", draft.question.serving.layout.dcp},
      {"attention_dp", draft.question.serving.layout.attention_dp},
      {"tp", layout.tp},
      {"pp", layout.pp},
      {"ep", layout.ep}};
  for (const auto& [term, count] : ranks) {
    if (!on_ggml || count == 1) continue;
    draft.contradiction(term, "engine", "it has no ranks", "--gpus with --split layer, row or tensor spreads a model");
  }
}

/// Requests a second and requests in flight follow from each other; what is accepted is a share of what is proposed.
void check_load(const QuestionDraft& draft) {
  if (draft.given("rate") && draft.given("concurrency"))
    draft.contradiction("rate", "concurrency", "as many are in flight as come in the time that one takes");
  if (draft.given("accept") && draft.question.serving.options.draft.kind == spec::DraftKind::none)
    draft.contradiction("accept", "draft", "nothing is proposed");
}

/// Families whose checkpoints hold layers that propose tokens, or come with some (vLLM config/speculative.py,
/// MTPModelTypes; llama.cpp src/llama-arch.cpp, the nextn tensors). MiniMax-M2's config.json names three.
constexpr std::array<std::string_view, 11> proposing_families{
    "deepseek_v3",  "deepseek_v32",     "glm4_moe",   "glm4_moe_lite", "glm_moe_dsa",        "qwen3_next",
    "qwen3_5_text", "qwen3_5_moe_text", "minimax_m2", "gemma4_text",   "gemma4_unified_text"};

void check_own_layers(const QuestionDraft& draft) {
  if (draft.question.serving.options.draft.kind != spec::DraftKind::mtp || draft.family.empty()) return;
  if (std::ranges::find(proposing_families, draft.family) != proposing_families.end()) return;
  draft.contradiction("draft", "model", "its checkpoint has no layers of its own that propose tokens",
                      "--draft eagle:N names layers trained beside it, --draft MODEL:N a smaller model");
}

/// As above, of the model that proposes tokens on the same ranks.
void check_draft(const QuestionDraft& draft) {
  check_own_layers(draft);
  const auto& serving = draft.question.serving;
  if (!serving.draft_model || spec::reads_gguf(serving.engine)) return;
  const std::int64_t tp = draft.question.layout.tp;
  if (serving.draft_model->model.shape.heads % tp != 0) {
    draft.contradiction("tp", "draft", "the heads of the draft model are spread over the ranks one by one");
  }
}

}  // namespace

std::optional<Uneven> uneven_cut(const spec::Model& model, std::int64_t tp) {
  const spec::Shape& shape = model.shape;
  if (has_attention(model)) {
    if (const auto found = uneven_attention(shape, tp)) return found;
  }
  if (shape.linear.key_heads % tp != 0 || shape.linear.value_heads % tp != 0) {
    return Uneven{"model", "the heads of its linear attention are spread over the ranks one by one"};
  }
  if (shape.state.width % tp != 0 || shape.state.heads % tp != 0) {
    return Uneven{"model", "the channels of its recurrent layers are spread over the ranks"};
  }
  return std::nullopt;
}

void check_server(const QuestionDraft& draft) {
  check_placement(draft);
  check_cut(draft);
  check_cache(draft);
  check_experts(draft);
  check_stages(draft);
  check_context_ranks(draft);
  check_load(draft);
  check_draft(draft);
}

}  // namespace llmcalc::read
