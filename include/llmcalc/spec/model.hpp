// A model as layer kinds: what build_model() makes of a shape, checked, ready for the step program.
#pragma once

#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/shape.hpp"

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace llmcalc::spec {

/// Multi-head, grouped-query or multi-query softmax attention.
struct GroupedAttention {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t value_dim = 0;    ///< of a value head
  bool keys_are_values = false;  ///< one projection makes both
  bool borrows_keys = false;     ///< keys and values are those of an earlier layer
  bool reads_tower = false;      ///< keys and values are made of what a tower hands over
  bool merges_memory = false;    ///< keys and values are made of its own positions and of the encoder's output
  std::int64_t low_rank = 0;     ///< of what is added to q, k and v beside weights that layers share
  std::int64_t input_width = 0;  ///< 0: the hidden state's
  std::int64_t query_rank = 0;   ///< of the bottleneck before the queries; 0: none
  std::int64_t output_rank = 0;  ///< of the bottleneck behind each of `output_groups` groups of heads; 0: none
  std::int64_t output_groups = 0;
  std::int64_t positions_a_key = 0;   ///< that a cached key stands for, which is its value too; 0: keys and values
  std::int64_t index_heads = 0;       ///< of an indexer that chooses among them; 0: all are read
  std::int64_t index_dim = 0;         ///< of its own keys
  std::int64_t index_top_k = 0;       ///< keys that it chooses
  std::int64_t window = 0;            ///< 0: sees everything
  std::int64_t relative_buckets = 0;  ///< T5 bias table held by this layer
  QkNorm qk_norm = QkNorm::none;
  bool qkv_bias = false;
  bool out_bias = false;
  bool output_gate = false;
  bool sinks = false;
  bool xl_projection = false;
  bool causal = true;

  friend bool operator==(const GroupedAttention&, const GroupedAttention&) = default;
  constexpr std::int64_t query_width() const { return heads * head_dim; }
  constexpr std::int64_t key_width() const { return kv_heads * head_dim; }
  constexpr std::int64_t value_width() const { return kv_heads * value_dim; }
};

/// Multi-head latent attention.
struct LatentAttention {
  std::int64_t heads = 0;
  LatentShape ranks;
  bool borrows_index = false;  ///< attends to what an earlier layer's indexer chose

  friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
  constexpr std::int64_t qk_dim() const { return ranks.qk_nope_dim + ranks.qk_rope_dim; }
};

/// Gated DeltaNet: a linear recurrence instead of softmax attention.
struct GatedDeltaNet {
  LinearAttentionShape heads;

  friend bool operator==(const GatedDeltaNet&, const GatedDeltaNet&) = default;
};

/// A recurrence or convolution along the sequence.
struct StateSpace {
  StateShape shape;
  std::optional<GroupedAttention> beside;  ///< attention on the same input, whose results are added

  friend bool operator==(const StateSpace&, const StateSpace&) = default;
};

/// A layer that transforms positions only.
struct NoMixer {
  friend bool operator==(const NoMixer&, const NoMixer&) = default;
};

using Mixer = std::variant<GroupedAttention, LatentAttention, GatedDeltaNet, StateSpace, NoMixer>;

struct DenseMlp {
  std::int64_t width = 0;
  bool bias = false;
  std::int64_t low_rank = 0;  ///< of what is added to gate and up projection beside weights that layers share
  bool sparse_gate = false;   ///< of the gate what lies far above its mean is kept

  friend bool operator==(const DenseMlp&, const DenseMlp&) = default;
};

struct MoeMlp {
  MoeShape moe;

  friend bool operator==(const MoeMlp&, const MoeMlp&) = default;
};

/// A layer that mixes positions only.
struct NoMlp {
  friend bool operator==(const NoMlp&, const NoMlp&) = default;
};

using FeedForward = std::variant<DenseMlp, MoeMlp, NoMlp>;

struct LayerKind {
  Mixer mixer;
  bool cross_attention = false;  ///< a decoder layer that also attends to the encoder, or to a tower
  FeedForward mlp;
  std::int64_t extra = 0;          ///< parameters beside those of mixer, MLP and norms
  std::int64_t idle_experts = 0;   ///< whose inward matrices transformers holds and nothing reads
  bool repeated = false;           ///< its weights are those of an earlier layer
  std::vector<Projection> beside;  ///< matrices beside those of mixer and MLP
  bool projects_behind = false;    ///< what it gives goes through a square matrix of its own
  bool takes_adapters = true;      ///< false where adapters are in other layers alone

  friend bool operator==(const LayerKind&, const LayerKind&) = default;
};

struct Model {
  Shape shape;
  std::vector<LayerKind> kinds;
  std::vector<std::uint8_t> layers;  ///< the kind of each layer, in order of execution, encoder first
  std::int64_t encoder_layers = 0;   ///< how many of `layers` belong to the encoder of an encoder-decoder

  std::int64_t layer_count() const { return static_cast<std::int64_t>(layers.size()); }
};

/// True for SwiGLU, GeGLU and ReGLU (Shazeer 2020, arXiv:2002.05202): two projections in, their product out.
constexpr bool is_gated(Mlp mlp) { return mlp == Mlp::swiglu || mlp == Mlp::geglu || mlp == Mlp::reglu; }

/// Expands a shape into layer kinds.
/// \throws quantity::BadInput naming the field when a dimension is missing, out of range or inconsistent
Model build_model(Shape shape);

/// Leaves adapters to those layers alone, counted from 0.
/// \pre the model is built
void keep_adapters_to(const std::vector<std::int64_t>& layers, Model& model);

}  // namespace llmcalc::spec
