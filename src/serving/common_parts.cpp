#include "layers/widths.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/spec/question.hpp"
#include "quantity/lists.hpp"
#include "serving/inner/engines.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <variant>

namespace llmcalc::serving {

using formats::Quant;
using layers::fp32_width;
using layers::half_width;
using quantity::Bytes;
using quantity::product;
using spec::CacheType;

namespace {

constexpr std::string_view tensors = "tensors of the step program, those the scheme quantizes at its bits";

struct LedgerPart {
  std::string_view id;
  std::string_view label;
  Bytes size;
};

/// Checkpoints that ask for recurrences in 32 bits: Qwen3.5 (config.json, mamba_ssm_dtype) and Nemotron-H
/// (mamba_ssm_cache_dtype); Kimi Delta Attention's states have them unasked (vLLM model_executor/models/config.py and
/// layers/mamba/mamba_utils.py, kda_state_dtype). Qwen3-Next's are as wide as its weights.
bool asks_for_wide_states(const spec::Model& model) {
  return model.shape.state.width > 0 ? model.shape.state.wide : model.shape.linear.wide_state;
}

bool is_narrow(Quant quant) { return formats::is_nvfp4(quant) || formats::is_fp8(quant); }

}  // namespace

bool multiplies_nvfp4(const spec::Accelerator& gpu) {
  return gpu.generation.can(spec::Ability::nvfp4) && gpu.peaks.fp4.has_value();
}

bool runs_on_torch(Quant quant) { return !formats::is_file_type(quant); }

bool runs_in_trtllm(Quant quant) {
  constexpr Quant of_others[] = {Quant::bnb_nf4, Quant::bnb_nf4_single, Quant::bnb_int8, Quant::nvfp4_a16};
  return runs_on_torch(quant) && !quantity::contains(of_others, quant);
}

/// Files in NVFP4 are made of checkpoints in it (llama.cpp convert_hf_to_gguf.py, _nvfp4_pack), of which no file type's
/// rule says what is left in 16 bits.
bool runs_on_ggml(Quant quant) {
  return formats::is_file_type(quant) || formats::is_plain(quant) || formats::is_nvfp4(quant);
}

bool keeps_in_pages(CacheType type) {
  return keeps_plain(type) || type == CacheType::fp8 || type == CacheType::int8 || type == CacheType::nvfp4;
}

bool keeps_in_ggml(CacheType type) { return keeps_plain(type) || type >= CacheType::q8_0; }

bool keeps_plain(CacheType type) { return type <= CacheType::f32; }

namespace {

/// vLLM and SGLang load the vision tower of a checkpoint that has one with its text, unquantized, cut like it, on the
/// first stage (vLLM model_executor/models/qwen3_5.py, visual).
Bytes tower_beside(const Deployment& deployment, const WeightBytes& weights) {
  const auto& serving = deployment.question.serving;
  const EngineRow& row = row_of(serving.engine);
  const bool can_leave = row.leaves_towers > EngineRelease{} && deployment.setup.release >= row.leaves_towers;
  const bool is_left = can_leave && deployment.question.training.towers == spec::TowerUse::absent;
  const bool holds = row.loads_towers && !is_left && serving.beside_text != nullptr;
  if (!holds || weights.table == quantity::bytes(0)) return quantity::bytes(0);
  return quantity::bytes(product(serving.beside_text->extra, half_width) / deployment.question.layout.tp);
}

}  // namespace

void hold_weights(const Deployment& deployment, const WeightBytes& weights, RankMemory& memory) {
  constexpr std::size_t usual_lines = 12;
  memory.holdings.reserve(usual_lines);
  const std::string_view scheme = spec::name_of(deployment.question.serving.quant);
  const LedgerPart parts[] = {
      {"weights_attention", "weights: attention", weights.attention + weights.other},
      {"weights_mlp", "weights: MLP", weights.mlp},
      {"weights_experts", "weights: experts", weights.experts},
      {"weights_ends", "weights: embedding and head", weights.table + weights.lookups + weights.head},
      {"weights_tower", "weights: towers", weights.towers + tower_beside(deployment, weights)}};
  for (const LedgerPart& part : parts) {
    if (part.size == quantity::bytes(0)) continue;
    memory.holdings.push_back({part.id, part.label, part.size, false, tensors, scheme});
  }
}

Bytes rotary_cache(const spec::Question& question) {
  const spec::Shape& shape = question.model.shape;
  const auto attends = [](const spec::LayerKind& kind) {
    const auto* recurrent = std::get_if<spec::StateSpace>(&kind.mixer);
    return recurrent == nullptr || recurrent->beside;
  };
  if (shape.position != spec::Position::rope || std::ranges::none_of(question.model.kinds, attends))
    return quantity::bytes(0);
  const std::int64_t width = shape.latent.kv_rank > 0 ? shape.latent.qk_rope_dim : shape.head_dim;
  return quantity::bytes(product(shape.max_position, width, half_width));
}

bool joins_widely(const spec::Question& question) {
  constexpr double widest_bus = 64e9;  // PCIe 5, one direction; bridges of two cards are narrower
  if (!question.gpu) return true;
  return question.gpu->link && quantity::in_bytes_per_second(*question.gpu->link) > widest_bus;
}

Bytes exchange_of_pair(const spec::Question& question) { return quantity::mib(joins_widely(question) ? 430 : 123); }

double mlp_width(const spec::Question& question) {
  const spec::Shape& shape = question.model.shape;
  const auto tp = static_cast<double>(question.layout.tp);
  if (shape.moe.experts == 0) return static_cast<double>(shape.ffn) / tp;
  const auto routed = static_cast<double>(product(shape.moe.top_k, shape.moe.expert_ffn));
  return routed / static_cast<double>(question.layout.etp) + static_cast<double>(shape.moe.shared_ffn) / tp;
}

std::int64_t sequences_of_rank(const spec::Question& question, std::int64_t concurrency) {
  const std::int64_t copies = product(question.layout.dp, question.serving.layout.attention_dp);
  return std::max<std::int64_t>(quantity::ceil_divide(concurrency, copies), 1);
}

CacheType usual_cache(const spec::Question& question, std::vector<std::string>& assumptions) {
  const spec::Serving& serving = question.serving;
  if (serving.cache != CacheType::automatic) return serving.cache;
  const bool brings_scales = serving.quant == Quant::nvfp4 && question.gpu && multiplies_nvfp4(*question.gpu);
  const bool by_engine = row_of(serving.engine).narrows_cache && is_narrow(serving.quant);
  if (!brings_scales && !by_engine) return CacheType::bf16;
  assumptions.emplace_back("--kv-dtype fp8, which checkpoints of this type bring scales for");
  return CacheType::fp8;
}

std::int64_t model_limit(const spec::Question& question) {
  if (question.serving.load.context > 0) return question.serving.load.context;
  const spec::Load& load = question.serving.load;
  const std::int64_t limit = question.model.shape.max_position;
  return limit > 0 ? limit : quantity::checked_add(load.prompt, load.output);
}

Bytes position_bytes(const Deployment& deployment, const LayerCache& layer) {
  return position_bytes(deployment.setup.cache, layer);
}

Bytes state_bytes(const spec::Question& question, const LayerCache& layer) {
  const EngineRow& row = row_of(question.serving.engine);
  const std::int64_t width = row.narrows_states && !asks_for_wide_states(question.model) ? half_width : fp32_width;
  const std::int64_t inputs = layer.inputs_elements * (spec::reads_gguf(row.engine) ? fp32_width : half_width);
  return quantity::bytes(quantity::checked_add(product(layer.state_elements, width), inputs));
}

std::int64_t shared_positions(const Deployment& deployment, const Demand& demand) {
  return std::min(deployment.question.serving.load.shared_prefix, demand.length);
}

}  // namespace llmcalc::serving
