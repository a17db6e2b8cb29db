// The ways a layer mixes positions. Each takes the normalised hidden state and returns the projected result.
#pragma once

#include "layers/inner/builder.hpp"

namespace llmcalc::layers {

/// Multi-head, grouped-query and multi-query attention.
/// \param x       normalised hidden state, source of the queries
/// \param memory  source of keys and values: x itself, or the encoder's output in cross-attention
Value grouped_attention(BlockBuilder& b, const spec::GroupedAttention& attention, const Value& x, const Value& memory);

/// Output of the towers of a model for layers that attend to it: like an encoder's output one tensor for all
/// layers, which is counted where it is made, so that a layer only refers to it.
Value tower_output(BlockBuilder& b);

/// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434 §2.1).
Value latent_attention(BlockBuilder& b, const spec::LatentAttention& attention, const Value& x);

/// Elements of one sequence's state on a rank.
struct KeptState {
  std::int64_t matrices = 0;  ///< of a recurrence
  std::int64_t inputs = 0;    ///< that its convolution still needs
};

/// Generation keeps the matrices of a recurrence in fp32 and the last inputs of its convolution in place of keys and
/// values (transformers cache_utils.py, LinearAttentionLayer). In training nothing is kept.
void keep_state(BlockBuilder& b, const KeptState& kept);

/// The indexer of latent attention (DeepSeek-V3.2-Exp): which positions it attends to. \param q_latent  normed
void choose_positions(BlockBuilder& b, const spec::LatentAttention& attention, const Value& x, const Value& q_latent);

/// Gated DeltaNet (Yang et al. 2024, arXiv:2412.06464), as Qwen3-Next places it.
Value gated_delta_net(BlockBuilder& b, const spec::GatedDeltaNet& net, const Value& x);

/// MLP behind RWKV's recurrence: each position mixed with the one before it, and a gate on what it
/// gives.
Value channel_mix(BlockBuilder& b, std::int64_t width, const Value& x);

/// Mamba, Mamba-2, RG-LRU, and a gated convolution alone.
Value state_space(BlockBuilder& b, const spec::StateShape& state, const Value& x);

/// Copy of `x` for all positions so far in generation, which the layer keeps; `x` itself in training.
Value cached(BlockBuilder& b, const Value& x, std::string_view name, Cached kept = Cached::positions);

/// Part that attention works on: some heads of some positions.
struct Heads {
  Value q, k, v;
};

/// The core that both softmax forms share: queries, keys and values of `heads` heads in, their mix out.
struct CoreAttention {
  std::int64_t heads = 0;
  std::int64_t qk_dim = 0;
  std::int64_t v_dim = 0;
  std::int64_t window = 0;
  bool causal = true;
  bool sinks = false;          ///< one learned score a head beside those of the positions
  std::int64_t keys = 0;       ///< positions of a sample that a query may see, where they are not its own sequence's
  std::int64_t block = 0;      ///< positions that attend to themselves and as many on either side; 0: no blocks
  bool grouped = false;        ///< keys and values are handed over for several query heads at once
  bool masked = false;         ///< a mask stands beside the heads, which the kernel reads and does not skip by
  bool in_fp32 = false;        ///< PyTorch writes it out, having no kernel; set by core_attention()
  std::int64_t positions = 0;  ///< of a sample, that these heads have queries of; set by core_attention()
};
Value core_attention(BlockBuilder& b, CoreAttention core, const Heads& local);

/// Limit of FlashAttention's kernels (pytorch aten/src/ATen/native/transformers/cuda/sdp_utils.cpp,
/// check_head_dim_size_flash).
inline constexpr std::int64_t widest_flash_head = 256;

/// True if PyTorch writes attention out, in fp32: of its fused kernels FlashAttention's alone takes grouped heads,
/// which transformers hands over whatever the accelerator and the type (sdp_utils.cpp, can_use_mem_efficient_attention;
/// transformers issue 48633).
bool falls_back_to_math(const Context& context, const CoreAttention& core);

/// PyTorch's kernels are told by a mask what is neither causal nor everything: of windows and chunks that are no longer
/// than the sample, of samples of several lengths (transformers masking_utils.py, _ignore_causal_mask_sdpa), and of
/// tokens of an image, which see each other (modeling_molmo2.py, Molmo2Model.forward; modeling_gemma3.py,
/// create_masks_for_vision_model). What attends to a tower has a mask that its class makes.
bool reads_mask(const Context& context, const CoreAttention& core);

/// Attention twice, over either half of the values.
Value differential_attention(BlockBuilder& b, const CoreAttention& core, const Heads& heads);

/// A norm without a weight over each head.
Value unweighted_heads(BlockBuilder& b, const Value& x, std::int64_t head_dim, std::string_view name);

/// True if one kernel does it, without scores in memory.
bool fuses_attention(const Context& context);

/// True if that kernel takes parts of larger tensors and expanded heads as they are; batched products copy them.
bool reads_views(const Context& context);

// The square of scores between queries and keys, and the two ways to run over it.

/// Positions that a query of these heads may see, masked or not.
std::int64_t seen(const Context& c, const CoreAttention& core);

/// The share of the s x s score square that the mask leaves: (s+1)/(2s) under a causal mask, (w/s)(1 - (w-1)/(2s))
/// under a causal window of w positions, 1 without a mask. Exact counts of unmasked pairs; a learned prefix is seen by
/// all. Of documents packed into a sequence each is a square of its own (flash-attention csrc/flash_attn/flash_api.cpp,
/// mha_varlen_fwd).
double unmasked_share(const Context& c, const CoreAttention& core);

/// Scores and their use: 2*T*s FLOPs a query element and as many a value element (Korthikanti et al. 2022, appendix A).
double square_flops(const Context& c, const CoreAttention& core);

Product per_head(const Context& c, const CoreAttention& core);

/// Scores, softmax, dropout and the weighted sum on a*s^2 tensors.
Value written_out_attention(BlockBuilder& b, const CoreAttention& core, const Heads& heads);

// How context-parallel ranks see each other's keys and values around the attention core.

/// Ring attention passes keys and values round while it works on those that it has; their gradients go round with them
/// in the backward pass (Liu et al. 2023, arXiv:2310.01889 §3). Adds what `op` sends and the buffers for it.
void pass_round(const Context& c, const Heads& heads, const Value& out, Op& op);

/// Traffic of the programs that merge ring steps outside the kernel.
void merge_steps(BlockBuilder& b, const Heads& heads, const Value& out);

/// Every rank gives the positions that it has of other ranks' heads for all positions of its own heads (Jacobs et al.
/// 2023, arXiv:2309.14509 §3.1).
Heads exchange_positions(BlockBuilder& b, const Heads& heads);

/// The way back: all heads of the rank's own positions.
Value exchange_heads(BlockBuilder& b, const Value& out);

}  // namespace llmcalc::layers
