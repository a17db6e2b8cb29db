#include "serving/inner/step_work.hpp"

#include "layers/widths.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "program/stage_blocks.hpp"
#include "serving/forward.hpp"
#include "serving/inner/engines.hpp"
#include "spec/traits.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <variant>

namespace llmcalc::serving {

using formats::Quant;
using layers::half_width;
using timing::Operands;

namespace {

double as_double(quantity::Bytes size) { return static_cast<double>(quantity::in_bytes(size)); }

/// Hopper's kernels for MXFP4 widen the weights, Blackwell's narrow the activations to MXFP8 (vLLM
/// model_executor/layers/fused_moe/oracle/mxfp4.py). What only rests in codes is widened everywhere.
Operands quantized_operands(const spec::Question& question, Quant quant) {
  switch (quant) {
    case Quant::fp8: return Operands::fp8;
    case Quant::fp8_block:
    case Quant::fp8_mxfp4:
    case Quant::mxfp8: return Operands::fp8_block;
    case Quant::int8: return Operands::int8;
    case Quant::nvfp4: return Operands::nvfp4;
    case Quant::mxfp4:
      return question.gpu && question.gpu->peaks.fp4 ? Operands::fp8_by_mxfp4 : Operands::half_by_mxfp4;
    case Quant::bf16:
    case Quant::f16:
    case Quant::f32: return Operands::half;
    default: return Operands::half_by_int4;
  }
}

class BlockReader {
 public:
  explicit BlockReader(const spec::Question& question) : question_(question), format_(question) {}

  /// \param places  of the layers that are alike but for how their weights rest
  LayerWork layer(const layers::Block& block, const spec::LayerKind& kind, const LayerCache& kept,
                  std::span<const LayerPlace> places) const {
    LayerWork work;
    work.layers = static_cast<std::int64_t>(places.size());
    work.operations = static_cast<double>(block.ops.size());
    for (const layers::Op& op : block.ops) add(block, op, places, work);
    work.mixer = mixer(block, kind, kept);
    add_experts(block, kind, places, work);
    add_scaling(work);
    const auto* grouped = std::get_if<spec::GroupedAttention>(&kind.mixer);
    work.residuals = int{!std::holds_alternative<spec::NoMixer>(kind.mixer)} + int{kind.cross_attention} +
                     int{!std::holds_alternative<spec::NoMlp>(kind.mlp)};
    work.norms_heads = grouped != nullptr && grouped->qk_norm != spec::QkNorm::none;
    return work;
  }

  std::optional<MatrixWork> head(const layers::Block& block) const {
    for (const layers::Op& op : block.ops) {
      if (op.weight != layers::no_weight && spec::use_of(block.weights[op.weight].role) == Use::head)
        return matrix(block, op, no_layer);
    }
    return std::nullopt;
  }

 private:
  static constexpr LayerPlace no_layer[] = {{}};

  double bytes(const layers::Block& block, const layers::Weight& weight, std::span<const LayerPlace> places) const {
    if (!format_.goes_by_place()) places = places.first(1);
    double sum = 0;
    for (const LayerPlace& place : places) sum += as_double(format_.bytes(block, weight, place));
    return sum / static_cast<double>(places.size());
  }

  /// Layers whose matrices rest in another scheme than most are few: those next to other kinds, the first, the last.
  Operands operands(const layers::Block& block, const layers::Weight& weight,
                    std::span<const LayerPlace> places) const {
    return quantized_operands(question_, format_.scheme(block, weight, places[places.size() / 2]));
  }

  /// Matrices that a head or a layer shares with another are read all the same.
  MatrixWork matrix(const layers::Block& block, const layers::Op& op, std::span<const LayerPlace> places) const {
    layers::Weight weight = block.weights[op.weight];
    weight.shared = false;
    const auto copies = static_cast<double>(format_.copies_over(block, weight));
    const Use role = spec::use_of(weight.role);
    const bool leads_down = role == Use::down;
    return {.n = static_cast<double>(op.product.n) / (leads_down ? 1.0 : copies),
            .k = static_cast<double>(op.product.k) / (leads_down ? copies : 1.0),
            .bytes = bytes(block, weight, places),
            .operands = operands(block, weight, places),
            .role = role,
            .copies = copies,
            .of_memory = block.tensors[op.inputs[0]].of_encoder};
  }

  void add(const layers::Block& block, const layers::Op& op, std::span<const LayerPlace> places,
           LayerWork& work) const {
    if (op.kind == layers::OpKind::activation) {
      work.activation_bytes += as_double(op.moved_forward);
      ++work.activations;
    }
    if (op.kind == layers::OpKind::norm || op.kind == layers::OpKind::elementwise)
      work.passed_bytes += as_double(op.moved_forward);
    const bool multiplies = op.kind == layers::OpKind::linear && op.weight != layers::no_weight && op.product.m > 0;
    if (!multiplies || is_expert(block.weights[op.weight])) return;
    const MatrixWork next = matrix(block, op, places);
    if (!work.matrices.empty() && loaded_as_one(work.matrices.back(), next)) {
      --work.operations;
      work.matrices.back().n += next.n;
      work.matrices.back().bytes += next.bytes;
    } else {
      work.matrices.push_back(next);
    }
  }

  /// Engines load q, k and v as one matrix, also where norms follow them, and so the two that lead down to latents
  /// (vLLM model_executor/models/deepseek_v2.py, fused_qkv_a_proj; SGLang and TensorRT-LLM have the same).
  static bool loaded_as_one(const MatrixWork& one, const MatrixWork& next) {
    const auto reads_heads = [](Use role) { return role == Use::query || role == Use::key || role == Use::value; };
    const bool together =
        reads_heads(one.role) ? reads_heads(next.role) : one.role == Use::latent_down && next.role == Use::latent_down;
    return together && one.k == next.k && one.operands == next.operands && one.of_memory == next.of_memory;
  }

  /// Inputs that share a scale by 128 are scaled by a kernel of their own before each product, those of the experts and
  /// of what they make before both of theirs (SGLang layers/quantization/fp8_utils.py, w8a8_block_fp8_linear;
  /// fused_moe_triton/fused_moe.py, invoke_fused_moe_kernel; vLLM has the same).
  void add_scaling(LayerWork& work) const {
    if (row_of(question_.serving.engine).scales_inside) return;
    const auto scales = [](Operands operands) { return operands == Operands::fp8_block ? 1.0 : 0.0; };
    for (const MatrixWork& each : work.matrices) work.operations += scales(each.operands);
    if (work.experts) work.operations += 2 * scales(work.experts->operands);
  }

  /// Experts' kernels fuse what lies between their matrices.
  void add_experts(const layers::Block& block, const spec::LayerKind& kind, std::span<const LayerPlace> places,
                   LayerWork& work) const {
    const auto* mixture = std::get_if<spec::MoeMlp>(&kind.mlp);
    if (mixture == nullptr) return;
    const auto& moe = mixture->moe;
    const double local = static_cast<double>(moe.experts) / static_cast<double>(question_.layout.ep);
    ExpertWork experts{
        .experts = static_cast<double>(moe.experts), .local = local, .chosen = static_cast<double>(moe.top_k)};
    for (const layers::Weight& weight : block.weights) {
      if (!is_expert(weight) || weight.rows == 0) continue;
      experts.elements += static_cast<double>(weight.elements) / local;
      experts.bytes += bytes(block, weight, places) / local;
      experts.operands = operands(block, weight, places);
    }
    work.experts = experts;
    if (moe.shared_ffn == 0) {
      work.activations = 0;
      work.activation_bytes = 0;
    }
  }

  MixerWork mixer(const layers::Block& block, const spec::LayerKind& kind, const LayerCache& kept) const {
    MixerWork work;
    work.kept.reach = Reach::state;
    if (const auto* a = std::get_if<spec::GroupedAttention>(&kind.mixer)) work = grouped(*a);
    if (const auto* a = std::get_if<spec::LatentAttention>(&kind.mixer)) work = latent(*a);
    const auto* state = std::get_if<spec::StateSpace>(&kind.mixer);
    if (state != nullptr && state->beside) work = grouped(*state->beside);
    add_recurrence(block, kept, work);
    work.gated_delta = std::holds_alternative<spec::GatedDeltaNet>(kind.mixer);
    return work;
  }

  void add_recurrence(const layers::Block& block, const LayerCache& kept, MixerWork& work) const {
    if (!keeps_state(kept)) return;
    work.state_bytes = as_double(state_bytes(question_, kept));
    for (const layers::Op& op : block.ops) {
      if (op.kind == layers::OpKind::convolution)
        work.scanned_per_position += as_double(block.tensors[op.outputs[0]].size);
    }
  }

  MixerWork grouped(const spec::GroupedAttention& a) const {
    const std::int64_t tp = question_.layout.tp;
    const auto heads = static_cast<double>(a.heads) / static_cast<double>(tp);
    const auto kv_heads = static_cast<double>(std::max<std::int64_t>(a.kv_heads / tp, 1));
    const auto dim = static_cast<double>(a.head_dim);
    MixerWork work;
    work.kept = {.reach = a.window > 0 ? Reach::window : Reach::full, .window = a.window};
    if (a.window > 0 && question_.model.shape.window.chunked) work.kept.reach = Reach::chunk;
    const auto both = static_cast<double>(a.head_dim + a.value_dim);
    work.kept.elements = static_cast<std::int64_t>(kv_heads * (a.keys_are_values ? dim : both));
    work.flops_per_read = work.flops_per_pair = 2 * heads * both;
    work.moved_per_position = static_cast<double>(half_width) * both * (heads + kv_heads);
    work.head_dim = a.head_dim;
    work.causal = a.causal;
    if (a.positions_a_key > 0) compress(a, work);
    return work;
  }

  /// Keys that stand for several positions are read as latents are, all of them or what an indexer chose (vLLM
  /// models/deepseek_v4: sparse MLA kernels). Those of the last 128 positions, which each layer sees too, are left out.
  static void compress(const spec::GroupedAttention& a, MixerWork& work) {
    const auto positions = static_cast<double>(a.positions_a_key);
    work.kept.latent = true;
    work.kept.elements = std::max<std::int64_t>(work.kept.elements / a.positions_a_key, 1);
    work.flops_per_read /= positions;
    work.flops_per_pair = work.flops_per_choice = work.flops_per_read;
    if (a.index_heads == 0) return;
    work.kept.reach = Reach::window;
    work.kept.window = quantity::product(a.index_top_k, a.positions_a_key);
    work.index_elements = static_cast<double>(a.index_dim) / positions;
    work.index_flops = 2 * static_cast<double>(a.index_heads) * work.index_elements;
  }

  /// Decoding multiplies queries with the up-projection instead of expanding the cache (DeepSeek-V2, arXiv:2405.04434
  /// section 2.1.2), so each head has the latent's width; every rank keeps the whole latent. With an indexer it reads
  /// the positions that were chosen, and the indexer one key of every position (DeepSeek-V3.2-Exp report, section 2.1).
  MixerWork latent(const spec::LatentAttention& a) const {
    const auto heads = static_cast<double>(a.heads) / static_cast<double>(question_.layout.tp);
    const auto& r = a.ranks;
    MixerWork work;
    work.kept = {.reach = Reach::full, .elements = r.kv_rank + r.qk_rope_dim};
    work.kept.latent = true;
    if (r.index_heads > 0) {
      work.kept.reach = Reach::window;
      work.kept.window = r.index_top_k;
      work.index_elements = a.borrows_index ? 0.0 : static_cast<double>(r.index_dim);
      work.index_flops = 2 * static_cast<double>(r.index_heads) * work.index_elements;
    }
    const double absorbed = 2.0 * static_cast<double>(2 * r.kv_rank + r.qk_rope_dim);
    work.flops_per_read = heads * absorbed;
    work.flops_per_pair = 2 * heads * static_cast<double>(a.qk_dim() + r.v_dim);
    work.flops_per_choice = sparse_heads(heads) * absorbed;
    work.moved_per_position =
        static_cast<double>(half_width) * heads * static_cast<double>(2 * a.qk_dim() + 2 * r.v_dim);
    return work;
  }

  /// FlashMLA's sparse kernel takes heads by 64 on Hopper; those of Blackwell as they are (SGLang
  /// layers/attention/nsa_backend.py, _forward_flashmla_sparse).
  double sparse_heads(double heads) const {
    constexpr double tile = 64;
    return question_.gpu && question_.gpu->peaks.fp4 ? heads : tile * std::ceil(heads / tile);
  }

  const spec::Question& question_;
  WeightFormat format_;
};

Passed passed(const spec::Model& model, std::size_t kind) {
  if (model.encoder_layers == 0) return Passed::by_all;
  return spec::is_of_encoder(model, kind) ? Passed::by_read : Passed::by_written;
}

}  // namespace

std::vector<StageWork> step_work(const spec::Question& asked) {
  spec::Question question = rank_question(asked);
  const auto read = static_cast<double>(std::exchange(question.model.shape.encoder_positions, 0));
  const program::Program program = forward_program(question, {.sequences = 1, .tokens = 1});
  const BlockReader reader(question);
  const auto kept = kept_by_kind(question, program);
  const std::size_t kinds = question.model.kinds.size();
  std::vector<StageWork> stages(static_cast<std::size_t>(program.stages));
  const auto places = layer_places(question, program);
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    stages[stage].hidden_bytes = static_cast<double>(half_width) * static_cast<double>(question.model.shape.hidden);
    std::size_t position = program.chunks[stage].first;
    for (const program::BlockRun& run : program::blocks_of_stage(program, static_cast<std::int64_t>(stage))) {
      const layers::Block& block = program.blocks[run.block];
      const bool is_layer = run.block >= 1 && run.block <= kinds;
      const std::size_t kind = run.block - 1U;
      const auto here = std::span(places).subspan(position, static_cast<std::size_t>(run.count));
      position += here.size();
      if (is_layer) {
        stages[stage].layers.push_back(reader.layer(block, question.model.kinds[kind], kept[kind], here));
        stages[stage].layers.back().passed = passed(question.model, kind);
        stages[stage].layers.back().read = read;
      }
      if (run.block == kinds + 1) stages[stage].head = reader.head(block);
    }
  }
  return stages;
}

}  // namespace llmcalc::serving
