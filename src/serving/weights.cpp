#include "serving/weights.hpp"

#include "layers/widths.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "serving/engine.hpp"
#include "serving/forward.hpp"
#include "serving/inner/gguf_rule.hpp"
#include "spec/file_tensors.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

namespace llmcalc::serving {

using formats::Coverage;
using layers::half_width;
using layers::Weight;
using quantity::Bytes;

namespace {

/// Matrices that checkpoints quantize, in the schemes that cover the layers.
bool is_layer_matrix(Use role) { return role > Use::head && role < Use::router; }

bool is_delta_net(const layers::Block& block) {
  const auto decays = [](const Weight& weight) {
    return weight.role == spec::Role::delta_beta_decay || weight.role == spec::Role::delta_beta;
  };
  return std::ranges::any_of(block.weights, decays);
}

/// Attention over latents and gated delta nets are left in 16 bits by the published 4-bit checkpoints: NVIDIA's NVFP4
/// ones name self_attn of the first and linear_attn of the second among their exclude_modules (hf_quant_config.json of
/// nvidia/DeepSeek-R1-0528-FP4 and of their Qwen3.5), Moonshot's int4 ones quantize routed experts alone
/// (moonshotai/Kimi-K2-Thinking, config.json, ignore), and llm-compressor ignores linear_attn
/// (examples/quantization_w4a16_fp4/nvfp4/qwen3.5_example.py).
bool leaves_attention(const spec::Question& question, const layers::Block& block) {
  const bool narrow = formats::is_nvfp4(question.serving.quant) || question.serving.quant == formats::Quant::int4;
  return narrow && (question.model.shape.latent.kv_rank > 0 || is_delta_net(block));
}

/// GGUF files have norms, biases and routers in fp32 whatever their type (convert_hf_to_gguf.py,
/// ModelBase.prepare_tensors).
bool keeps_fp32(Use role) { return role == Use::router || role == Use::vector; }

bool is_attention(Use role) { return role >= Use::query && role <= Use::attention_out; }

bool keeps_positions(const spec::Mixer& mixer) {
  const auto* state = std::get_if<spec::StateSpace>(&mixer);
  return std::holds_alternative<spec::GroupedAttention>(mixer) ||
         std::holds_alternative<spec::LatentAttention>(mixer) || (state != nullptr && state->beside);
}

std::int64_t count_attention_layers(const spec::Model& model) {
  return std::ranges::count_if(model.layers,
                               [&](std::uint8_t kind) { return keeps_positions(model.kinds[kind].mixer); });
}

GgufModel gguf_model(const spec::Question& question, std::int64_t attention_layers) {
  const spec::Shape& shape = question.model.shape;
  return {.quant = question.serving.quant,
          .layers = question.model.layer_count(),
          .attention_layers = attention_layers,
          .group_query = shape.kv_heads > 0 ? shape.heads / shape.kv_heads : 1,
          .experts = shape.moe.experts,
          .tied = shape.tied,
          .imatrix = question.serving.imatrix,
          .from_mxfp4 = question.serving.from_mxfp4};
}

}  // namespace

bool is_expert(const Weight& weight) { return weight.split == layers::Split::expert; }

namespace {

/// The part of the ledger that a tensor belongs to.
Bytes WeightBytes::*part_of(const layers::Block& block, const Weight& weight) {
  if (block.tower) return &WeightBytes::towers;
  const Use role = spec::use_of(weight.role);
  if (role == Use::table) return &WeightBytes::table;
  if (role == Use::lookups) return &WeightBytes::lookups;
  if (role == Use::head) return &WeightBytes::head;
  if (is_attention(role)) return &WeightBytes::attention;
  if (is_expert(weight)) return &WeightBytes::experts;
  return is_layer_matrix(role) ? &WeightBytes::mlp : &WeightBytes::other;
}

}  // namespace

WeightBytes& WeightBytes::operator+=(const WeightBytes& more) {
  table += more.table;
  lookups += more.lookups;
  head += more.head;
  attention += more.attention;
  mlp += more.mlp;
  experts += more.experts;
  other += more.other;
  towers += more.towers;
  return *this;
}

WeightFormat::WeightFormat(const spec::Question& question)
    : question_(question), attention_layers_(count_attention_layers(question.model)) {}

bool WeightFormat::goes_by_place() const {
  const spec::Serving& serving = question_.serving;
  return formats::is_file_type(serving.quant) || serving.from_mxfp4 || serving.file != nullptr;
}

const spec::FileTensors* WeightFormat::file() const {
  const spec::FileTensors* file = question_.serving.file.get();
  return file != nullptr && file->quant == question_.serving.quant ? file : nullptr;
}

formats::Quant WeightFormat::scheme(const layers::Block& block, const Weight& weight, const LayerPlace& place) const {
  const Use role = spec::use_of(weight.role);
  const formats::Quant quant = question_.serving.quant;
  const formats::Quant narrow = is_expert(weight) ? formats::of_experts(quant) : quant;
  const bool said = file() != nullptr && file()->says();
  const auto narrows = [&] {
    if (block.tower && !formats::facts(narrow).narrows_towers) return false;
    switch (formats::facts(narrow).covers) {
      case Coverage::nothing: return false;
      case Coverage::experts: return is_expert(weight) && weight.rows > 0;
      case Coverage::layers:
        return is_layer_matrix(role) && (said || !(is_attention(role) && leaves_attention(question_, block)));
      case Coverage::file: break;
    }
    return role < Use::router;
  };
  if (said && !block.tower && (role <= Use::lookups || role == Use::head || is_layer_matrix(role))) {
    if (const auto own = file()->said(weight.role, is_expert(weight), place.layer)) return *own;
  }
  return narrows() ? narrow : formats::Quant::bf16;
}

/// A rank beyond the rows or columns that there are holds none.
Bytes WeightFormat::matrix_bytes(const Weight& weight, formats::Quant scheme) const {
  const std::int64_t elements = quantity::product(weight.rows, weight.columns);
  if (elements == 0) return quantity::bytes(0);
  const auto pads = row_of(question_.serving.engine).pads;
  const Padded matrix = pads == nullptr ? Padded{weight.rows, weight.columns} : pads(question_, weight, scheme);
  const std::int64_t group = scheme == question_.serving.quant ? question_.serving.group_size : 0;
  const Bytes one = formats::storage_bytes(formats::facts(scheme), matrix.rows, matrix.columns, group);
  return one * (weight.elements / elements);
}

std::int64_t WeightFormat::copies_over(const layers::Block& block, const Weight& weight) const {
  const bool cut = row_of(question_.serving.engine).cuts_dense && part_of(block, weight) == &WeightBytes::mlp;
  return cut ? question_.serving.layout.attention_dp : 1;
}

Bytes WeightFormat::bytes(const layers::Block& block, const Weight& weight, const LayerPlace& place) const {
  const Bytes whole = resting(block, weight, place);
  return quantity::bytes(quantity::ceil_divide(quantity::in_bytes(whole), copies_over(block, weight)));
}

/// Bytes of an element in the file that is at hand, if it is in the type that is asked about.
std::optional<double> WeightFormat::in_file(const Weight& weight, const LayerPlace& place) const {
  if (file() == nullptr) return std::nullopt;
  const Use use = spec::use_of(weight.role);
  const bool in_layer = use != Use::table && use != Use::lookups && use != Use::head;
  return file()->bytes_each(use, is_expert(weight), in_layer ? place.layer : 0);
}

Bytes WeightFormat::resting(const layers::Block& block, const Weight& weight, const LayerPlace& place) const {
  const auto quant = question_.serving.quant;
  if (weight.shared) return quantity::bytes(0);
  if (const auto each = in_file(weight, place)) {
    return quantity::bytes(std::llround(static_cast<double>(weight.elements) * *each));
  }
  const bool packed_expert = question_.serving.from_mxfp4 && is_expert(weight) && weight.rows > 0;
  if (formats::is_file_type(quant) || packed_expert) {
    const Use role = spec::use_of(weight.role);
    const bool is_looked_up = role == Use::table || role == Use::lookups;
    const std::int64_t width = is_looked_up ? weight.columns : weight.rows;
    const GgufTensor tensor{role, is_expert(weight), place, width};
    return formats::storage_bytes(gguf_type(gguf_model(question_, attention_layers_), tensor), weight.elements);
  }
  if (const auto own = scheme(block, weight, place); own != formats::Quant::bf16) return matrix_bytes(weight, own);
  const bool wide =
      quant == formats::Quant::f32 || (reads_gguf(question_.serving.engine) && keeps_fp32(spec::use_of(weight.role)));
  const std::int64_t width = wide ? 2 * half_width : half_width;
  return quantity::bytes(quantity::product(weight.elements, width));
}

namespace {

/// The tensors of blocks, which rest alike wherever a block stands, but in GGUF files, whose rule goes by the place.
class BlockBytes {
 public:
  BlockBytes(const spec::Question& question, const program::Program& program)
      : format_(question), program_(program), known_(program.blocks.size()) {}

  WeightBytes at(std::uint16_t block, const LayerPlace& place) {
    if (format_.goes_by_place()) return sum(block, place);
    auto& known = known_[block];
    if (!known) known = sum(block, place);
    return *known;
  }

 private:
  WeightBytes sum(std::uint16_t block, const LayerPlace& place) const {
    WeightBytes bytes;
    const layers::Block& held = program_.blocks[block];
    for (const Weight& weight : held.weights) bytes.*part_of(held, weight) += format_.bytes(held, weight, place);
    return bytes;
  }

  WeightFormat format_;
  const program::Program& program_;
  std::vector<std::optional<WeightBytes>> known_;
};

}  // namespace

std::vector<LayerPlace> layer_places(const spec::Question& question, const program::Program& program) {
  std::vector<LayerPlace> places;
  LayerPlace next;
  for (const std::uint16_t index : program.sequence) {
    places.push_back(next);
    if (index < 1 || index > question.model.kinds.size()) continue;
    ++next.layer;
    if (keeps_positions(question.model.kinds[index - 1U].mixer)) ++next.attention;
  }
  return places;
}

StageWeights stage_weights(const spec::Question& question, const program::Program& program, std::int64_t stage) {
  BlockBytes blocks(question, program);
  StageWeights held;
  const auto places = layer_places(question, program);
  const auto& chunk = program.chunks[static_cast<std::size_t>(stage)];
  for (std::uint32_t position = chunk.first; position < chunk.last; ++position) {
    const std::uint16_t index = program.sequence[position];
    const WeightBytes sum = blocks.at(index, places[position]);
    held.whole += sum;
    if (index >= 1 && index <= question.model.kinds.size()) {
      held.layers.push_back(sum);
    } else {
      held.ends += sum;
    }
  }
  return held;
}

Bytes model_bytes(const spec::Question& question) {
  spec::Question whole = question;
  whole.layout = {};
  const auto program = forward_program(whole, {.fuses_projections = false});
  return stage_weights(whole, program, 0).whole.total();
}

Bytes file_bytes(const spec::Question& question) {
  // Text, score and type of each token of a vocabulary of 128k, and what merges them, take 7.8 MB: what files of
  // Llama-3-70B (XiongjieDai/GPU-Benchmarks-on-LLM-Inference, perplexity table) have beside their tensors.
  constexpr std::int64_t token_bytes = 61;
  const auto tokenizer = quantity::bytes(quantity::product(question.model.shape.vocab, token_bytes));
  return model_bytes(question) + tokenizer;
}

}  // namespace llmcalc::serving
