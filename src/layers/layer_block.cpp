#include "layers/blocks.hpp"
#include "layers/inner/attention.hpp"
#include "layers/inner/builder.hpp"
#include "layers/inner/parts.hpp"
#include "layers/widths.hpp"

#include <algorithm>

namespace llmcalc::layers {

using quantity::product;

namespace {

// Several copies of the hidden state, of which a layer runs on the first, and predicts and corrects the others (AltUp).

/// How much of each stream there is, as a router says of one of them (transformers modeling_gemma3n.py,
/// Gemma3nTextAltUp.compute_router_modalities).
Value modalities(BlockBuilder& b, const Value& x) {
  const Value normed = b.norm(x, "router norm");
  const Value scaled = b.rearrange(normed, "router input", x.rows, x.columns, OpKind::elementwise);
  const Value routed = b.linear(scaled, {Role::stream_router, x.columns, b.context().shape().streams.count});
  const Value wide = b.saved_result(b.cast(routed, fp32_width, "routed (fp32)"), "tanh");
  return b.cast(wide, x.width, "modalities");
}

/// Router of another modality, whose weights are those of the first.
Value modalities_again(BlockBuilder& b, const Value& x) {
  const std::size_t first = b.block().weights.size();
  const Value result = modalities(b, x);
  for (std::size_t i = first; i < b.block().weights.size(); ++i) {
    b.block().weights[i].tied = b.block().weights[i].shared = true;
  }
  return result;
}

/// The first of them, on which the layer runs.
Value first_stream(BlockBuilder& b, const Value& all) {
  Value first = all;
  first.rows /= b.context().shape().streams.count;
  return first;
}

/// A product of each position's streams with a square of coefficients keeps both; its result is put in the order of the
/// streams (Gemma3nTextAltUp.predict).
/// The streams before the layer runs, all of them mixed by what the first says.
Value predicted_streams(BlockBuilder& b, const Value& all) {
  const std::int64_t count = b.context().shape().streams.count;
  const Value active = first_stream(b, all);
  const Value coefficients = b.linear(modalities(b, active), {Role::stream_predictions, count, count * count});
  const Value mixed = b.like(all, "mixed streams");
  Op mix{.kind = OpKind::scores,
         .name = "mixed streams",
         .inputs = {all.id, coefficients.id},
         .outputs = {mixed.id},
         .saved = {all.id, coefficients.id}};
  mix.product = {all.columns, count, count, active.rows};
  mix.forward = quantity::flops(2.0 * static_cast<double>(product(all.rows, all.columns, count)));
  if (mixed.needs_gradient) mix.backward_input = 2.0 * mix.forward;
  b.append(mix);
  return b.rearrange(mixed, "predicted streams", all.rows, all.columns, OpKind::permutation);
}

/// Streams after the layer ran: each takes over a part of what that changed. The change of the first is repeated for
/// each and kept with its coefficient (Gemma3nTextAltUp.correct, which clamps the weight first, past an adapter).
/// \param activated  what the layer made of the first
Value corrected_streams(BlockBuilder& b, const Value& predicted, const Value& activated) {
  const std::int64_t count = b.context().shape().streams.count;
  Matrix corrections{Role::stream_corrections, count, count};
  corrections.multiplier = Multiplier::tensor;
  const Value made = b.linear(modalities_again(b, activated), corrections);
  const Value coefficients = b.rearrange(made, "correction coefficients", made.rows, count, OpKind::elementwise);
  const Value change = b.add(activated, first_stream(b, predicted), "change");
  const Value repeated = b.rearrange(change, "repeated change", predicted.rows, predicted.columns, OpKind::permutation);
  const Value corrected = b.like(predicted, "corrected streams");
  b.append({.kind = OpKind::elementwise,
            .name = "corrected streams",
            .inputs = {repeated.id, coefficients.id, predicted.id},
            .outputs = {corrected.id},
            .saved = {repeated.id, coefficients.id}});
  return corrected;
}

/// transformers modeling_gemma3n.py, Gemma3nTextLaurelBlock.
/// A residual of low rank beside attention (LAuReL).
Value low_rank_residual(BlockBuilder& b, const Value& normed) {
  const std::int64_t rank = b.context().shape().streams.residual_rank;
  const Value low = b.linear(normed, {Role::residual_low_rank, normed.columns, rank});
  const Value made = b.linear(low, {Role::residual_low_rank, rank, normed.columns});
  return b.add(normed, b.norm(made, "residual norm"), "low-rank residual");
}

/// Matrices that a family has beside those of its kinds: on the normed input, on what the one before made of it, or on
/// something as large that is made for it. What they make gates or scales something, for which it is kept. A table is
/// looked up by words, or groups of them (transformers modeling_qwen4_exp.py, Qwen4ExpTextNGramEmbedding).
void run_beside(BlockBuilder& b, const spec::LayerKind& kind, const Value& x) {
  Value last = x;
  for (const spec::Projection& matrix : kind.beside) {
    if (matrix.role == Role::layer_input_table) {
      last = layer_embeddings(b, x, matrix.inputs, matrix.outputs);
      b.block().weights.back().active = matrix.outputs;  // a token passes through a few rows of a table this large
      continue;
    }
    Value in = matrix.inputs == x.columns ? x : last;
    if (matrix.inputs != in.columns) in = b.rearrange(x, "input beside", x.rows, matrix.inputs, OpKind::permutation);
    last = b.linear(in, {matrix.role, matrix.inputs, matrix.outputs, matrix.bias});
    b.append({.kind = OpKind::elementwise, .name = "use of it", .inputs = {last.id}, .saved = {last.id}});
  }
}

/// State space beside attention, which reads its input times a factor of its own (transformers modeling_falcon_h1.py,
/// FalconH1Mixer.forward, ssm_in_multiplier).
Value run_state_space(BlockBuilder& b, const spec::StateSpace& state, const Value& x) {
  if (!state.beside) return state_space(b, state.shape, x);
  const Value scaled = b.rearrange(x, "scaled input", x.rows, x.columns, OpKind::elementwise);
  return b.add(state_space(b, state.shape, scaled), grouped_attention(b, *state.beside, x, x), "mixed");
}

/// Input of keys and values. Under a mask of both parts a decoder attends to its own positions and the
/// encoder's at once (transformers modeling_t5gemma2.py, T5Gemma2MergedAttention.forward); the encoder's output is one
/// for all.
Value read_by_keys(BlockBuilder& b, const spec::GroupedAttention& a, const Value& x) {
  if (a.reads_tower) return tower_output(b);
  if (!a.merges_memory) return x;
  const Context& c = b.context();
  return b.value("own and encoder's positions", 2 * x.rows, x.columns, 0, c.trains_base || c.adapter_rank > 0);
}

Value mix_positions(BlockBuilder& b, const spec::LayerKind& kind, const Value& x) {
  const spec::Mixer& mixer = kind.mixer;
  run_beside(b, kind, x);
  if (const auto* grouped = std::get_if<spec::GroupedAttention>(&mixer)) {
    return grouped_attention(b, *grouped, x, read_by_keys(b, *grouped, x));
  }
  if (const auto* latent = std::get_if<spec::LatentAttention>(&mixer)) return latent_attention(b, *latent, x);
  if (const auto* state = std::get_if<spec::StateSpace>(&mixer)) return run_state_space(b, *state, x);
  return gated_delta_net(b, std::get<spec::GatedDeltaNet>(mixer), x);
}

/// True if a norm is a module apart from the product that reads it. Transformer Engine takes both as one, whose norm
/// cannot be run again by itself, before dense MLPs and attention without latents (Megatron-LM core/models/gpt/
/// gpt_layer_specs.py, input_layernorm and pre_mlp_layernorm).
bool stands_apart(const Context& c, bool product_follows) {
  return !(c.profile.norm.fuses_into_product && product_follows);
}

/// A norm and the part of the layer that reads it. The norm's result may be given up in between (Megatron-LM
/// core/transformer/transformer_layer.py, recompute_input_layernorm and recompute_pre_mlp_layernorm).
template <class Part>
Value behind_norm(BlockBuilder& b, const Value& x, std::string_view norm, bool product_follows, const Part& part) {
  const auto kind = b.context().shape().norm;
  if (!stands_apart(b.context(), product_follows)) return part(b.norm(x, norm, kind));
  Recomputed again(b, spec::RecomputeModule::layernorm, {x});
  const Value normed = b.norm(x, norm, kind);
  again.discard({normed});
  const Value y = part(normed);
  again.remake();
  return y;
}

/// A sum in fp32 goes down before the norm (transformers modeling_mamba.py, MambaBlock.forward). Zamba's shared layers
/// read the hidden state beside the embedding (modeling_zamba2.py, Zamba2AttentionDecoderLayer.forward).
Value mixed_input(BlockBuilder& b, const spec::LayerKind& kind, const Value& hidden) {
  if (b.adds_wide()) return b.cast(hidden, b.context().width, "narrow hidden state");
  const auto* grouped = std::get_if<spec::GroupedAttention>(&kind.mixer);
  if (grouped == nullptr || grouped->input_width <= hidden.columns) return hidden;
  return b.rearrange(hidden, "joined with the embedding", hidden.rows, grouped->input_width, OpKind::permutation);
}

Value mix(BlockBuilder& b, const spec::LayerKind& kind, const Value& hidden) {
  const bool product_follows = !std::holds_alternative<spec::LatentAttention>(kind.mixer);
  return behind_norm(b, mixed_input(b, kind, hidden), "input norm", product_follows,
                     [&](const Value& normed) { return mix_positions(b, kind, normed); });
}

bool mixes_channels(const spec::LayerKind& kind) {
  const auto* state = std::get_if<spec::StateSpace>(&kind.mixer);
  return state != nullptr && state->shape.form == spec::StateForm::wkv;
}

Value transform(BlockBuilder& b, const spec::LayerKind& kind, const Value& x) {
  const auto* dense = std::get_if<spec::DenseMlp>(&kind.mlp);
  const auto* mixture = std::get_if<spec::MoeMlp>(&kind.mlp);
  if (mixture != nullptr && b.context().shape().writing.norms_branches) return experts_beside_mlp(b, mixture->moe, x);
  return behind_norm(b, x, "mlp norm", dense != nullptr, [&](const Value& normed) {
    return mixes_channels(kind) ? channel_mix(b, dense->width, normed) : feed_forward(b, kind.mlp, normed);
  });
}

/// The second pair of norms of a sandwich layer (Gemma 2, GLM-4-0414) stands behind attention and MLP.
Value after(BlockBuilder& b, const Value& x, std::string_view name) {
  return b.context().shape().norms_per_layer >= 4 ? b.norm(x, name) : x;
}

/// Attention and MLP read the same hidden state, through one shared norm or one each (GPT-J, Falcon, PaLM, Command R).
void parallel_layer(BlockBuilder& b, const spec::LayerKind& kind, const Value& x) {
  const Value first = b.norm(x, "input norm");
  const Value second = b.context().shape().norms_per_layer >= 2 ? b.norm(x, "mlp norm") : first;
  const Value mixed = b.dropout(bottleneck(b, mix_positions(b, kind, first)), "attention dropout");
  const Value transformed = b.dropout(bottleneck(b, feed_forward(b, kind.mlp, second)), "mlp dropout");
  b.output(b.add(b.add(mixed, transformed, "branches"), x, "residual"));
}

/// A copy of the first stream, times a weight that is kept with it, reads the layer's own input (transformers
/// modeling_gemma3n.py, Gemma3nTextAltUp.forward).
Value scaled_first(BlockBuilder& b, const Value& streams) {
  const Value first = first_stream(b, streams);
  const Value copy = b.rearrange(first, "first stream", first.rows, first.columns, OpKind::permutation);
  return b.scaled(copy, "scaled stream");
}

/// transformers modeling_gemma3n.py, Gemma3nTextDecoderLayer.forward.
void layer_of_streams(BlockBuilder& b, const spec::LayerKind& kind, const Value& all) {
  const auto& shape = b.context().shape();
  const Value predicted = predicted_streams(b, all);
  const Value active = first_stream(b, predicted);
  const Value normed = b.norm(active, "input norm");
  const Value residual = low_rank_residual(b, normed);
  const Value mixed = after(b, mix_positions(b, kind, normed), "post-attention norm");
  const Value hidden = b.add(b.add(active, mixed, "residual"), residual, "residuals");
  const Value transformed = after(b, transform(b, kind, hidden), "post-mlp norm");
  const Value corrected = corrected_streams(b, predicted, b.add(hidden, transformed, "residual"));
  if (shape.layer_inputs.width == 0) return b.output(corrected);
  b.output(b.add(corrected, layer_input(b, scaled_first(b, corrected)), "with layer input"));
}

/// Memory that a decoder attends to between its own positions and the MLP: the encoder's output or a tower's.
Value memory_of(BlockBuilder& b, const Value& x) {
  const Context& c = b.context();
  if (c.model.encoder_layers == 0) return tower_output(b);
  const std::int64_t rows = c.shape().encoder_positions > 0 ? c.encoder_tokens() / c.sp : x.rows;
  const Value memory = b.value("encoder output", rows, x.columns, 0, c.trains_base || c.adapter_rank > 0);
  b.block().tensors[memory.id].of_encoder = true;
  return memory;
}

Value cross_attend(BlockBuilder& b, const spec::LayerKind& kind, const Value& x) {
  spec::GroupedAttention cross = std::get<spec::GroupedAttention>(kind.mixer);
  cross.causal = false;
  cross.relative_buckets = 0;
  cross.reads_tower = b.context().model.encoder_layers == 0;
  const Value encoded = memory_of(b, x);
  const Value normed = b.norm(x, "cross-attention norm");
  const Value mixed = after(b, grouped_attention(b, cross, normed, encoded), "post-cross-attention norm");
  return b.dropout_add(x, mixed, "cross-attention dropout");
}

void sequential_layer(BlockBuilder& b, const spec::LayerKind& kind, const Value& x) {
  Value hidden = x;
  if (!std::holds_alternative<spec::NoMixer>(kind.mixer)) {
    const Value mixed = after(b, bottleneck(b, mix(b, kind, x)), "post-attention norm");
    hidden = b.dropout_add(x, mixed, "attention dropout");
  }
  if (std::holds_alternative<spec::NoMixer>(kind.mixer)) run_beside(b, kind, hidden);
  if (kind.cross_attention) hidden = cross_attend(b, kind, hidden);
  if (!std::holds_alternative<spec::NoMlp>(kind.mlp)) {
    const Value transformed = after(b, bottleneck(b, transform(b, kind, hidden)), "post-mlp norm");
    hidden = b.dropout_add(hidden, transformed, "mlp dropout");
  }
  hidden = with_layer_input(b, hidden);
  if (kind.projects_behind) hidden = b.linear(hidden, {Role::behind_layer, hidden.columns, hidden.columns});
  b.output(hidden);
}

/// Experts that give back what they get have no matrices, but transformers makes the inward ones of all
/// (modeling_longcat_flash.py, LongcatFlashExperts.__init__, gate_up_proj of total_experts).
void hold_idle_experts(BlockBuilder& b, const spec::LayerKind& kind) {
  const Context& c = b.context();
  const auto* mixture = std::get_if<spec::MoeMlp>(&kind.mlp);
  if (mixture == nullptr || kind.idle_experts == 0 || !c.profile.kernels.transformers_modules) return;
  const std::int64_t columns = 2 * mixture->moe.expert_ffn;
  b.rest_of(Role::gate_up, kind.idle_experts, c.shape().hidden, columns);
  Weight& w = b.block().weights.back();
  w.active = 0;
  w.elements /= c.ep;
  w.split = Split::expert;
}

/// Weights that each of the layers that share their matrices has for itself.
bool is_own(Role role) {
  return role == Role::behind_layer || role == Role::attention_low_rank || role == Role::mlp_low_rank;
}

/// Whether what an operation makes is kept, not only what it reads.
bool keeps_result(const Op& op) {
  return !op.outputs.empty() && std::ranges::find(op.saved, op.outputs[0]) != op.saved.end();
}

/// From the last operation that keeps something of its inputs alone, nothing is needed again.
void end_recompute_early(Block& block) {
  for (std::size_t i = block.ops.size(); i-- > 0;) {
    Op& op = block.ops[i];
    if (keeps_result(op)) return;
    op.behind_kept = true;
    if (!op.saved.empty()) return;
  }
}

/// Where results are kept by their names, an operation runs again for who reads what it makes, and a result is kept for
/// the same (jax ad_checkpoint.py, remat_partial_eval: code that nothing reads goes from both passes).
void run_again_for_readers(Block& block) {
  std::vector<bool> read(block.tensors.size(), false);
  for (const Op& op : block.ops) {
    for (const TensorId id : op.saved) read[id] = true;
  }
  for (std::size_t i = block.ops.size(); i-- > 0;) {
    Op& op = block.ops[i];
    const auto is_missed = [&](TensorId id) { return read[id] && !block.tensors[id].survives_recompute; };
    op.behind_kept = !op.outputs.empty() && std::ranges::none_of(op.outputs, is_missed);
    if (op.behind_kept) continue;
    for (const TensorId id : op.inputs) read[id] = true;
  }
  for (std::size_t id = 0; id < read.size(); ++id) {
    if (!read[id]) block.tensors[id].survives_recompute = false;
  }
}

}  // namespace

void layer_block(const Context& c, const spec::LayerKind& kind, bool input_needs_gradient, Block& block) {
  if (!kind.takes_adapters) {
    spec::LayerKind plain = kind;
    plain.takes_adapters = true;
    return layer_block(c.without_adapters(), plain, input_needs_gradient, block);
  }
  block.name = "layer";
  BlockBuilder b(c, block);
  const std::int64_t streams = std::max<std::int64_t>(c.shape().streams.count, 1);
  const std::int64_t rows = quantity::product(c.tokens / c.sp, streams);
  const Value x = b.input("hidden state", rows, c.shape().hidden, input_needs_gradient);
  if (c.shape().streams.count > 0) {
    layer_of_streams(b, kind, x);
  } else if (c.shape().parallel_residual) {
    parallel_layer(b, kind, x);
  } else {
    sequential_layer(b, kind, x);
  }
  if (kind.extra > 0) b.vector("other parameters", kind.extra);
  hold_idle_experts(b, kind);
  if (kind.repeated) {
    for (Weight& w : block.weights) w.tied = w.shared = !is_own(w.role);
  }
  block.checkpointed = c.training.recompute.policy == spec::RecomputePolicy::full || c.selects_operations;
  if (!block.checkpointed) return;
  if (!c.training.recompute.kept.empty()) {
    run_again_for_readers(block);
  } else if (c.profile.kernels.stops_recompute) {
    end_recompute_early(block);
  }
}

}  // namespace llmcalc::layers
