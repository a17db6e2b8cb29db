#include "layers/attention.hpp"
#include "layers/feed_forward.hpp"
#include "layers/learned.hpp"
#include "layers/recomputed.hpp"
#include "llmcalc/layers/blocks.hpp"

namespace llmcalc::layers {

namespace {

constexpr std::string_view beside = "projection beside";

/// Matrices that a family has beside those of its kinds: on the normed input, on what the one before made of it, or on
/// something as large that is made for it. What they make gates or scales something, for which it is kept.
void run_beside(BlockBuilder& b, const spec::LayerKind& kind, const Value& x) {
  Value last = x;
  for (const spec::Projection& matrix : kind.beside) {
    Value in = matrix.inputs == x.columns ? x : last;
    if (matrix.inputs != in.columns) in = b.rearrange(x, "input beside", x.rows, matrix.inputs, OpKind::permutation);
    last = b.linear(in, {beside, matrix.inputs, matrix.outputs, matrix.bias});
    b.append({.kind = OpKind::elementwise, .name = "use of it", .inputs = {last.id}, .saved = {last.id}});
  }
}

/// What stands beside attention reads its input times a factor of its own (transformers modeling_falcon_h1.py,
/// FalconH1Mixer.forward, ssm_in_multiplier).
Value run_state_space(BlockBuilder& b, const spec::StateSpace& state, const Value& x) {
  if (!state.beside) return state_space(b, state.shape, x);
  const Value scaled = b.rearrange(x, "scaled input", x.rows, x.columns, OpKind::elementwise);
  return b.add(state_space(b, state.shape, scaled), grouped_attention(b, *state.beside, x, x), "mixed");
}

Value mix_positions(BlockBuilder& b, const spec::LayerKind& kind, const Value& x) {
  const spec::Mixer& mixer = kind.mixer;
  run_beside(b, kind, x);
  if (const auto* grouped = std::get_if<spec::GroupedAttention>(&mixer)) return grouped_attention(b, *grouped, x, x);
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

/// A sum in fp32 goes down before the norm (transformers modeling_mamba.py, MambaBlock.forward).
Value mix(BlockBuilder& b, const spec::LayerKind& kind, const Value& hidden) {
  const Value x = b.adds_wide() ? b.cast(hidden, b.context().width, "narrow hidden state") : hidden;
  const bool product_follows = !std::holds_alternative<spec::LatentAttention>(kind.mixer);
  return behind_norm(b, x, "input norm", product_follows,
                     [&](const Value& normed) { return mix_positions(b, kind, normed); });
}

Value transform(BlockBuilder& b, const spec::FeedForward& mlp, const Value& x) {
  const bool product_follows = std::holds_alternative<spec::DenseMlp>(mlp);
  return behind_norm(b, x, "mlp norm", product_follows,
                     [&](const Value& normed) { return feed_forward(b, mlp, normed); });
}

/// The second pair of norms of a sandwich layer (Gemma 2, GLM-4-0414) stands behind attention and MLP.
Value after(BlockBuilder& b, const Value& x, std::string_view name) {
  const auto& shape = b.context().shape();
  return shape.norms_per_layer >= 4 ? b.norm(x, name, shape.norm) : x;
}

/// Attention and MLP read the same hidden state, through one shared norm or one each (GPT-J, Falcon, PaLM, Command R).
void parallel_layer(BlockBuilder& b, const spec::LayerKind& kind, const Value& x) {
  const auto& shape = b.context().shape();
  const Value first = b.norm(x, "input norm", shape.norm);
  const Value second = shape.norms_per_layer >= 2 ? b.norm(x, "mlp norm", shape.norm) : first;
  const Value mixed = b.dropout(bottleneck(b, mix_positions(b, kind, first)), "attention dropout");
  const Value transformed = b.dropout(bottleneck(b, feed_forward(b, kind.mlp, second)), "mlp dropout");
  b.output(b.add(b.add(mixed, transformed, "branches"), x, "residual"));
}

/// A decoder layer of an encoder-decoder attends to the encoder's output between attention and MLP. That output is
/// one tensor for all layers and is counted where it is made, so the layer itself only refers to its width.
Value cross_attend(BlockBuilder& b, const spec::LayerKind& kind, const Value& x) {
  const auto& shape = b.context().shape();
  spec::GroupedAttention cross = std::get<spec::GroupedAttention>(kind.mixer);
  cross.causal = false;
  cross.relative_buckets = 0;
  const Value encoded = b.value("encoder output", x.rows, x.columns, 0, b.context().trains_base);
  const Value normed = b.norm(x, "cross-attention norm", shape.norm);
  return b.dropout_add(x, grouped_attention(b, cross, normed, encoded), "cross-attention dropout");
}

void sequential_layer(BlockBuilder& b, const spec::LayerKind& kind, const Value& x) {
  Value hidden = x;
  if (!std::holds_alternative<spec::NoMixer>(kind.mixer)) {
    const Value mixed = after(b, bottleneck(b, mix(b, kind, x)), "post-attention norm");
    hidden = b.dropout_add(x, mixed, "attention dropout");
  }
  if (std::holds_alternative<spec::NoMixer>(kind.mixer)) run_beside(b, kind, hidden);
  if (kind.cross_attention) hidden = cross_attend(b, kind, hidden);
  if (std::holds_alternative<spec::NoMlp>(kind.mlp)) return b.output(hidden);
  const Value transformed = after(b, bottleneck(b, transform(b, kind.mlp, hidden)), "post-mlp norm");
  b.output(b.dropout_add(hidden, transformed, "mlp dropout"));
}

}  // namespace

void layer_block(const Context& c, const spec::LayerKind& kind, bool input_needs_gradient, Block& block) {
  block.name = "layer";
  BlockBuilder b(c, block);
  const Value x = b.input("hidden state", c.tokens / c.sp, c.shape().hidden, input_needs_gradient);
  if (c.shape().parallel_residual) {
    parallel_layer(b, kind, x);
  } else {
    sequential_layer(b, kind, x);
  }
  if (kind.extra > 0) b.vector("other parameters", kind.extra);
  if (kind.repeated) {
    for (Weight& w : block.weights) w.tied = w.shared = w.name != beside;
  }
  block.checkpointed = c.training.recompute.policy == spec::RecomputePolicy::full || c.selects_operations;
}

}  // namespace llmcalc::layers
