// The shape of a model as people and configuration files describe it: flat, one value a name.
//
// Every source (preset, config.json, measured row, flag) fills the same fields, in the vocabulary of the
// measured-run schema; build_model() expands the shape into layer kinds. Adding a structural detail means: a field
// here, its parameters in model.cpp, its operations in the program.
#pragma once

#include "llmcalc/spec/role.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace llmcalc::spec {

enum class Stack { decoder, encoder, encoder_decoder };
enum class Mlp { gelu, relu, squared_relu, swiglu, geglu, reglu };
enum class Norm { layernorm, layernorm_no_bias, rmsnorm, nonparametric };
enum class Position { learned, rope, alibi, relative, none };
enum class QkNorm {
  none,
  per_head,    ///< one weight of head_dim, shared by the heads (Qwen3, Gemma 3)
  full_width,  ///< one weight as wide as all heads together (OLMo 2, Command R+)
};

/// The softmax attention of a layer that is not latent; `window` > 0 limits how far back a token sees.
struct WindowPattern {
  std::int64_t window = 0;      ///< tokens a windowed layer sees; 0: every layer sees everything
  std::int64_t full_every = 0;  ///< every n-th layer sees everything; 0: all layers are windowed
  bool chunked = false;         ///< the window is the token's own chunk of the sequence, not the last tokens (Llama 4)
};

struct LatentShape {         ///< multi-head latent attention (DeepSeek-V2, arXiv:2405.04434 §2.1)
  std::int64_t q_rank = 0;   ///< 0: queries are projected directly
  std::int64_t kv_rank = 0;  ///< 0: the model has no latent attention
  std::int64_t qk_nope_dim = 0;
  std::int64_t qk_rope_dim = 0;
  std::int64_t v_dim = 0;
  std::int64_t index_heads = 0;  ///< of an indexer that chooses the positions attended to (DeepSeek-V3.2); 0: none
  std::int64_t index_dim = 0;
  std::int64_t index_top_k = 0;  ///< positions that it chooses

  friend bool operator==(const LatentShape&, const LatentShape&) = default;
};

/// Which matrices a delta rule's layer has on what it reads.
enum class DeltaProjections {
  joined,  ///< one of q, k, v and gate, and one of decay and beta (Qwen3-Next)
  parts,   ///< one of q, k and v; gate, decay and beta have their own (Qwen3.5)
  apart,   ///< each its own (Kimi Linear, OLMo hybrid)
};

struct LinearAttentionShape {   ///< gated DeltaNet layers (Qwen3-Next), or Kimi Delta Attention
  std::int64_t full_every = 0;  ///< every n-th layer is softmax attention; 0: the model has no linear layers
  std::int64_t key_heads = 0;
  std::int64_t value_heads = 0;
  std::int64_t key_dim = 0;
  std::int64_t value_dim = 0;
  std::int64_t conv_kernel = 0;
  bool channel_decay = false;  ///< each channel of a key decays by itself (Kimi Delta Attention, arXiv:2510.26692)
  std::int64_t gate_rank = 0;  ///< then of the projections to decays and gate; 0: whole matrices
  bool wide_state = false;     ///< the checkpoint asks for its states in 32 bits (mamba_ssm_dtype)

  friend bool operator==(const LinearAttentionShape&, const LinearAttentionShape&) = default;
};

struct MoeShape {
  std::int64_t experts = 0;  ///< 0: dense
  std::int64_t top_k = 0;
  std::int64_t expert_ffn = 0;
  std::int64_t expert_width = 0;  ///< of what routed experts read and write; 0: the model's (Nemotron 3 Super)
  std::int64_t shared_ffn = 0;    ///< total width of the shared experts
  std::int64_t dense_layers = 0;  ///< leading dense layers
  std::int64_t every = 1;         ///< of the layers after those, every n-th is MoE (Llama 4 Maverick: 2)
  bool router_bias = false;
  bool expert_bias = false;
  bool correction_bias = false;  ///< per-expert bias of the router's choice (DeepSeek-V3)
  bool shared_gate = false;      ///< sigmoid gate of h weights on the shared expert (Qwen2-MoE)

  friend bool operator==(const MoeShape&, const MoeShape&) = default;
};

/// Mixer of the positions of a layer.
enum class MixerWord : std::uint8_t {
  attention,
  linear,
  state_space,
  attention_and_state,  ///< side by side, on the same normalised input (Falcon-H1)
  none
};

/// How a layer carries a state along the sequence in place of attention.
enum class StateForm : std::uint8_t {
  selective_scan,     ///< Mamba (Gu & Dao 2023, arXiv:2312.00752)
  duality,            ///< Mamba-2 (Dao & Gu 2024, arXiv:2405.21060)
  gated_recurrence,   ///< RG-LRU (De et al. 2024, arXiv:2402.19427)
  short_convolution,  ///< a gated causal convolution alone (LFM2)
  wkv,                ///< RWKV-4 (Peng et al. 2023, arXiv:2305.13048)
  matrix_memory,      ///< mLSTM (Beck et al. 2025, arXiv:2503.13427)
  lightning,          ///< linear attention with a decay a head, block by block (Qin et al. 2024, arXiv:2401.04658)
};

struct StateShape {
  StateForm form = StateForm::selective_scan;
  std::int64_t width = 0;  ///< channels of the recurrence; 0: the model has no such layers
  std::int64_t heads = 0;  ///< of duality and of the gates of a gated recurrence
  std::int64_t state = 0;  ///< elements of state a channel
  std::int64_t groups = 1;
  std::int64_t conv_kernel = 0;
  std::int64_t step_rank = 0;  ///< of the projection to the time step (selective scan)
  std::int64_t block = 0;      ///< positions that are taken at once (lightning)
  bool conv_bias = false;
  bool bias = false;          ///< of the projections in and out
  bool norm = false;          ///< a gated norm behind the recurrence (duality)
  bool normed_steps = false;  ///< time steps, B and C go through norms, which no kernel holds (Jamba)
  bool wide = false;          ///< the checkpoint asks for its states in 32 bits (mamba_ssm_cache_dtype)

  friend bool operator==(const StateShape&, const StateShape&) = default;
};

/// A matrix between two widths.
struct Projection {
  Role role = Role::projector;
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  bool bias = false;

  friend bool operator==(const Projection&, const Projection&) = default;
};

/// One layer of a model whose layers follow no period; a size of 0 is the shape's.
struct LayerPlan {
  MixerWord mixer = MixerWord::attention;
  bool windowed = false;
  bool experts = false;
  bool mlp = true;
  bool repeated = false;  ///< its weights are those of an earlier layer (ALBERT, Zamba)
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t value_dim = 0;    ///< of a value head; 0: as wide as a key's
  bool keys_are_values = false;  ///< one projection makes both (Gemma 4)
  bool borrows_keys = false;     ///< keys and values are those of an earlier layer (Gemma 3n)
  std::int64_t input_width =
      0;                        ///< of what attention reads, where that is joined with the embedding (Zamba); 0: hidden
  std::int64_t query_rank = 0;  ///< queries come through a bottleneck (DeepSeek-V4)
  std::int64_t output_rank = 0;  ///< and so does what attention gives, in `output_groups` groups of heads
  std::int64_t output_groups = 0;
  std::int64_t positions_a_key = 0;  ///< that one key stands for, which is the value too (DeepSeek-V4); 0: keys, values
  std::int64_t index_heads = 0;      ///< of an indexer that chooses among such keys by ones of `index_dim` of its own
  std::int64_t index_dim = 0;
  std::int64_t index_top_k = 0;    ///< keys that it chooses
  bool borrows_index = false;      ///< attends to what an earlier layer's indexer chose (GLM-5)
  bool attends_to_tower = false;   ///< in place of its own positions (Llama 3.2 Vision)
  bool norms_tower_heads = false;  ///< queries and keys of such a layer, each head
  bool merges_memory = false;      ///< the encoder's output among its own positions, by one set of matrices (T5Gemma 2)
  bool crosses_to_tower = false;   ///< behind attention to its own positions (TrOCR)
  bool sparse_gate = false;        ///< of the MLP's gate what lies far above its mean is kept (Gemma 3n)
  std::int64_t low_rank = 0;       ///< of what a shared layer adds to q, k and v for itself (Zamba 2)
  std::int64_t mlp_low_rank = 0;   ///< and to gate and up projection
  bool projects_behind = false;    ///< what it gives goes through a square matrix of its own (Zamba)
  std::int64_t ffn = 0;
  std::int64_t expert_ffn = 0;
  std::int64_t extra = 0;          ///< parameters that belong to no matrix or norm of the kind (scalars, small tables)
  std::int64_t idle_experts = 0;   ///< that do nothing: transformers alone holds their inward matrices (LongCat-Flash)
  std::vector<Projection> beside;  ///< matrices beside those of the kind: gates, low ranks, per-layer inputs

  friend bool operator==(const LayerPlan&, const LayerPlan&) = default;
};

enum class NormForm {
  plain,
  offset,          ///< an RMSNorm times one plus its weight, in fp32 to the end (Gemma)
  widened,         ///< a LayerNorm in fp32 between two casts (OLMo)
  chained,         ///< a LayerNorm as a chain of fp32 operations (Command R)
  unweighted,      ///< an RMSNorm without a weight (nanochat)
  narrow_product,  ///< an RMSNorm that widens its input for the square alone (T5)
};

/// How the public code of a family writes what others write differently: which tensors exist, of equal parameters.
struct Writing {
  NormForm norm = NormForm::plain;
  DeltaProjections projections = DeltaProjections::joined;
  bool fused_qkv = false;          ///< one matrix whose result q, k and v are parts of (GPT-NeoX)
  bool fused_gate_and_up = false;  ///< one matrix whose result gate and up projection are parts of (Phi-3)
  bool rotates_by_head =
      false;                 ///< queries lie head by head: the rotary embedding concatenates (Phi), or they are copied
  bool inner_norms = false;  ///< a norm before the output projection and before the down projection (BitNet)
  bool wide_router = false;  ///< the router multiplies in fp32 (DeepSeek-V3)
  bool runs_all_experts = false;        ///< every expert computes every token (Llama 4)
  bool merges_expert_adapters = false;  ///< peft adds adapters of experts to a copy of their weights (Mixtral)
  bool clamped_gate = false;     ///< gate and up projection are clamped, and one is added to the latter (gpt-oss)
  bool chained_gelu = false;     ///< GELU's tanh form operation by operation (GPT-2)
  bool xielu = false;            ///< xIELU operation by operation (Apertus)
  bool wide_scores = false;      ///< written-out attention widens queries and keys before it multiplies them (GPT-J)
  bool narrow_softmax = false;   ///< written-out attention takes its softmax in the type of the scores (GPT-2)
  bool caps_scores = false;      ///< attention scores go through a tanh (Gemma 2)
  bool caps_logits = false;      ///< and so do the logits
  bool eager_attention = false;  ///< the class supports written-out attention only
  bool wide_residual = false;    ///< layers hand on their sums in fp32 (Mamba)
  bool norms_values = false;     ///< values go through a norm without a weight (Gemma 4)
  bool norms_rotated = false;    ///< and so do rotated queries and keys of layers with a window (Llama 4)
  bool norms_branches = false;   ///< experts and the dense MLP beside them have norms of their own (Gemma 4)
  bool gate_apart = false;       ///< the output gate is made by a matrix apart from that of the queries (AFMoE)
  bool linear_router = false;    ///< the router is a linear layer beside experts that are parameters (HunYuan, Gemma 4)
  bool differential = false;     ///< attention runs over either half of the values, and heads differ (DiffLlama)
  bool clamps_qkv = false;       ///< what one matrix makes of q, k and v is clamped (DBRX)
  bool bounds_scores = false;    ///< written-out scores are no less than the type's least number (XGLM)
  bool local_blocks = false;     ///< layers with a window attend in blocks, each to itself and its neighbours (LongT5)
  bool masks_images = false;     ///< attention has a mask by which tokens of an image see each other (Molmo 2)
  bool scales_by_sinks =
      false;  ///< sinks are no scores of the softmax: what it weighs is scaled by their share behind it
  bool loops_over_experts = false;  ///< experts are parameters of a loop that adds up what each of them gives (DBRX)
  bool hands_on_index = false;      ///< layers hand on the positions that their indexer chose (GLM-5)
  bool narrow_loss = false;         ///< before the library had a loss of its own, its own one did not widen the logits
  std::int64_t sublayers = 1;       ///< layers that are one module, which checkpoints take as a whole (LongCat-Flash)

  friend bool operator==(const Writing&, const Writing&) = default;
};

/// Embeddings that each layer has for itself, and what of the hidden state is added to them (Gemma 3n).
struct LayerInputShape {
  std::int64_t width = 0;  ///< 0: layers read the hidden state alone
  std::int64_t vocab = 0;  ///< words that have them

  friend bool operator==(const LayerInputShape&, const LayerInputShape&) = default;
};

/// Several copies of the hidden state, of which a layer runs on one and predicts the others (AltUp: Baykal et al. 2023,
/// arXiv:2301.13310), beside a residual of low rank (LAuReL: Menghani et al. 2024, arXiv:2411.07501).
struct StreamShape {
  std::int64_t count = 0;  ///< 0: the hidden state alone
  std::int64_t residual_rank = 0;

  friend bool operator==(const StreamShape&, const StreamShape&) = default;
};

struct Tower;

struct Shape {
  std::string name;
  std::string family;  ///< whose public code it is, as files call it (model_type); empty: nobody said
  Stack stack = Stack::decoder;
  std::int64_t layers = 0;          ///< of the encoder where there are two stacks
  std::int64_t decoder_layers = 0;  ///< of the second stack; 0 where there is one
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t ffn = 0;
  std::int64_t vocab = 0;
  std::int64_t max_position = 0;
  std::int64_t encoder_positions = 0;  ///< that an encoder reads of each sample (Whisper); 0: as many as the decoder
  Mlp mlp = Mlp::swiglu;
  Norm norm = Norm::rmsnorm;
  Position position = Position::rope;
  int norms_per_layer = 2;
  bool final_norm = true;
  bool qkv_bias = false;
  bool out_bias = false;
  bool mlp_bias = false;
  bool head_bias = false;
  bool tied = false;
  bool parallel_residual = false;
  QkNorm qk_norm = QkNorm::none;
  bool output_gate = false;      ///< query projection doubled for a gate (Qwen3-Next)
  bool attention_sinks = false;  ///< one learned logit a head (gpt-oss)
  bool xl_projection = false;    ///< Transformer-XL projection of relative positions, hidden x query width (Gopher)
  WindowPattern window;
  LatentShape latent;
  LinearAttentionShape linear;
  StateShape state;
  MoeShape moe;
  LayerInputShape layer_inputs;
  StreamShape streams;
  Writing writing;
  std::vector<LayerPlan> plan;     ///< one a layer, the decoder's behind the encoder's; empty: the periods above say it
  std::int64_t extra = 0;          ///< parameters beside the layers that no other field says
  std::int64_t memory_width = 0;   ///< of what towers hand over to layers that attend to them; 0: hidden
  std::vector<Tower> towers;       ///< encoders of images or sound that stand beside the text model
  std::int64_t position_rows = 0;  ///< rows of the learned position table (OPT: max_position + 2)
  std::int64_t relative_buckets = 0;  ///< T5: rows of the relative bias, in the first layer of each stack
  std::int64_t token_types = 0;       ///< BERT segment embeddings
  std::int64_t embedding_width = 0;   ///< width of the token table where projected to hidden (OPT-350M); 0: hidden
  bool embeds_narrow = false;         ///< positions, token types and norm are as narrow as such a table (ALBERT)
  bool embedding_norm = false;
  bool pooler = false;
  bool headless = false;        ///< no vocabulary is predicted: what it makes of a text is read from its hidden states
  bool head_transform = false;  ///< a dense layer, the activation and a norm between the last layer and the head (BERT)
  double dropout = 0.0;         ///< hidden and attention dropout probability of the run
};

/// An encoder of images or sound beside the text model, and what leads from its width to the text's.
struct Tower {
  std::string name;                   ///< "vision", "audio"
  Shape layers;                       ///< its layers; no table, no head
  std::int64_t positions = 0;         ///< patches of an image, frames of a clip
  std::int64_t patch_inputs = 0;      ///< numbers that make a position: channels x patch x patch; 0: no such matrix
  bool patch_bias = false;            ///< of the matrix from those to the tower's width
  std::int64_t merged = 1;            ///< positions that the projector makes one of
  std::vector<Projection> projector;  ///< between tower and text model, in order
  std::int64_t extra = 0;             ///< parameters of neither layers nor the matrices above
  std::int64_t most_positions = 0;    ///< of the largest image that its processor makes, all tiles of it; 0: not known
  std::int64_t most_tokens = 0;       ///< that the text model has of that
};

}  // namespace llmcalc::spec
