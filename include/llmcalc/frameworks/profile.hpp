// What a framework allocates and runs, as choices for the program: which copies, saved tensors, buffers and kernels.
// Frameworks that allocate alike share a profile. A profile never holds a correction factor.
#pragma once

#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/accelerator.hpp"
#include "llmcalc/spec/training.hpp"

#include <optional>

namespace llmcalc::frameworks {

/// Communication buffers of a ZeRO engine, in elements; all 0 where the framework has none.
struct ZeroEngine {
  std::int64_t reduce_bucket = 0;     ///< gradients collected before they are reduced
  std::int64_t gather_bucket = 0;     ///< updated weights gathered at once after the step
  std::int64_t prefetch_bucket = 0;   ///< weights gathered ahead of the layer that runs (stage 3)
  std::int64_t smallest_sharded = 0;  ///< smaller tensors stay whole (stage 3)
  std::int64_t step_group = 0;        ///< whose gradients are widened at once (stage 3)
};

/// Who adds the weight gradients of a micro-batch to those of the ones before.
enum class Accumulation {
  uncounted,      ///< the textbook: a product's result is the gradient
  in_product,     ///< the weight gradient's product, inside its kernel
  apart,          ///< a kernel behind it, in the type in which gradients accumulate
  apart_widened,  ///< a kernel behind it, after another has cast the 16-bit gradient to that type
};

/// Whose fused kernel runs where attention is fused.
enum class AttentionLibrary {
  native,   ///< the one written for the generation: FlashAttention-3, cuDNN's
  flash_2,  ///< FlashAttention-2, on every generation
  flash_1,
  triton,  ///< FlashAttention in Triton
};

struct Profile {
  /// fused: one kernel that keeps its input. eager: a chain of tensor operations, each keeping what autograd needs.
  bool fused_norm = true;
  bool fused_glu = true;
  bool eager_kernels = false;             ///< memory-bound operations run in PyTorch's own kernels
  bool eager_head = false;                ///< those around the layers do, which are compiled without them
  bool rotates_complex = false;           ///< rotary embedding multiplies complex numbers, which no compiler fuses
  bool fuses_dropout_add = false;         ///< one kernel drops from a branch and adds the residual
  bool widens_norm = false;               ///< casts the norm's input to fp32 and its result back
  bool fuses_norm_into_product = false;   ///< norm and the matrix product that reads it are one module
  bool fused_adapters = false;            ///< low-rank adapters run in kernels that also keep the layer's own input
  bool widens_adapter_input = false;      ///< inputs of fp32 adapters are cast to fp32, and their products run in it
  bool fused_projections = true;          ///< q,k,v as one matrix
  bool transformers_modules = false;      ///< each family's layers as transformers writes them
  bool weighs_norm_wide = false;          ///< an eager RMSNorm stays fp32 until it has been weighted
  bool writes_out_capped_scores = false;  ///< no fused kernel where a tanh caps the scores
  bool fused_gate_and_up = true;          ///< gate,up as one matrix
  bool keeps_norm_statistics = true;      ///< fp32 mean and reciprocal deviation a token
  bool keeps_log_sum_exp = true;          ///< fp32 a token and head (FlashAttention)
  bool copies_attention_output = false;   ///< the kernel's own layout differs, and both stay for the backward pass
  bool keeps_score_buffer = false;      ///< unfused attention writes its scores beside a buffer that outlives the step
  bool writes_out_scores = false;       ///< attention is two products and a softmax, whatever kernel is asked for
  bool keeps_ring_steps = false;        ///< ring attention frees nothing of a step before the last one
  bool repeats_kv = false;              ///< grouped keys and values are expanded to all query heads
  bool groups_in_kernel = false;        ///< but not before a fused kernel
  bool copies_heads = true;             ///< a fused kernel reads no part of a larger tensor, and no expanded head
  bool softmax_in_fp32 = false;         ///< unfused attention takes its softmax in fp32 and casts the result
  bool chains_softmax = false;          ///< and scales, masks, casts and drops in kernels of their own
  bool models_kernel_workspace = true;  ///< scratch memory inside kernels (attention backward)
  bool holds_narrow_logits = true;      ///< the 16-bit logits stay referenced beside their fp32 copy
  bool shifts_logits = false;           ///< the loss works on a contiguous copy of all logits but the last position's
  bool keeps_batch = false;             ///< token ids, labels and mask (int64) stay on the device during the step
  bool eager_loss = false;              ///< log_softmax and nll as separate fp32 tensors instead of in-place
  bool holds_wide_logits = false;    ///< the training loop's variable keeps the fp32 logits through the backward pass
  bool narrow_loss_kernel = false;   ///< one kernel keeps the 16-bit logits and makes their 16-bit gradient
  std::int64_t loss_positions = 0;   ///< head and loss run on so many positions of each sample at a time; 0: on all
  bool rotates_into_copies = false;  ///< rotary embedding writes queries and keys beside the projection they came from
  bool transforms_before_head = false;  ///< masked language models have BERT's whole head, not the encoder alone
  bool quantizes_head = false;          ///< the output head is quantized with the layers
  bool unties_head = false;             ///< the output head is a matrix of its own though the checkpoint's is the table
  bool keeps_quantized_inputs = false;  ///< products with quantized matrices keep their input for the backward pass
  int dequantized_copies = 1;           ///< 16-bit copies that a product with a quantized matrix makes of it at once
  bool copies_quantized_outputs = false;  ///< what such a product made is copied before its adapters are added
  bool quantizes_scales = false;          ///< those of NF4 are always quantized again, and sharded with the codes
  bool pads_adapter_output = false;       ///< one adapter on the fused q, k, v projection, padded to those without one
  std::int64_t prompt_layers_start = 0;   ///< layers below have no adaption prompt (LLaMA-Adapter), so no gradients
  bool accumulates_whole_gradients = false;  ///< sharded gradients stay whole between micro-batches, frozen parts too
  bool starts_with_longest = false;  ///< the first micro-batch is the longest: nothing of an earlier one lies beside it
  bool keeps_last_graph = false;     ///< the training loop keeps a micro-batch's graph until the next one has its loss
  bool updates_in_backward = false;  ///< each weight is updated as soon as its gradient is made, which is then dropped
  bool saves_products = false;       ///< selective recompute keeps attention and every second matrix product's result
  double router_overload = 0.0;      ///< of the busiest expert-parallel rank, times the root of its number of experts
  bool weighs_activations = false;   ///< the router's weights multiply what ungated experts' down projection reads
  bool holds_routed_rows = false;    ///< to the end of a mixture, in local variables; its shared experts run first
  bool keeps_expert_outputs = false;  ///< the router's weights multiply the experts' outputs, which are kept for it
  bool weighs_results_wide = false;   ///< in fp32, whose copies of the outputs are kept instead
  bool loops_over_experts = false;    ///< one expert at a time takes its rows and adds its results to the output
  bool keeps_added_rows = false;      ///< and what is added is kept

  bool retains_frozen_inputs = false;  ///< sharded frozen layers keep inputs and their gradients to the end of the pass
  bool persistent_gradients = true;    ///< one buffer for the whole run; otherwise .grad is made in each backward pass
  bool drops_wide_gradients = false;   ///< fp32 copies last from the optimizer step to the beginning of the next one
  Accumulation accumulation = Accumulation::uncounted;
  bool copies_exchanged = false;          ///< tensor-parallel ranks put what they gather or scatter in order
  bool keeps_gathered_inputs = false;     ///< and keep it gathered for the weight's gradient
  bool overlaps_input_gradients = true;   ///< tensor-parallel ranks reduce them beside the weight gradient's product
  bool scatters_stage_tensors = false;    ///< each tensor-parallel rank sends its part of what stages hand on
  bool retains_stage_tensors = false;     ///< a pipeline stage keeps its received and sent tensor between steps
  bool dummy_weight_gradients = false;    ///< one scratch gradient a distinct matrix shape (fused accumulation)
  bool fuses_small_gradients = true;      ///< of biases and norms, inside kernels that read the same tensors anyway
  bool sums_biases_apart = false;         ///< but those of biases in a kernel of the program's own
  bool fuses_rotary = true;               ///< rotary embedding is one kernel instead of a chain of operations
  bool overlaps_tensor_exchange = false;  ///< tensor-parallel exchanges run beside the products around them
  bool overlaps_data_exchange = true;     ///< gradients are reduced while the last backward pass makes them
  bool sends_by_owner = false;           ///< each rank sends its share of the updated weights by itself, beside nothing
  bool reduces_whole_gradients = false;  ///< on all data-parallel ranks, though each updates a share of the weights
  bool reduces_narrow = false;           ///< in the type of the products, wherever they are added up afterwards
  int passes_around_reduction = 0;       ///< over the gradients, into the tensor that is reduced and back
  std::int64_t metric_bytes = 0;  ///< a logit, that the training loop's own metrics of every micro-batch pass over
  bool runs_forward_for_metrics = false;  ///< and a forward pass of its own on every micro-batch
  int optimizer_temporaries = 0;          ///< parameter-sized temporaries of the step, in the type of the moments
  /// Narrow gradients are copied to fp32 for the step alone (Megatron-LM core/optimizer/distrib_optimizer.py,
  /// _copy_model_grads_to_main_grads, unless the precision-aware optimizer reads them as they are; DeepSpeed likewise).
  bool widens_gradients_at_step = false;
  bool passes_over_gradients = false;  ///< to clear and to scale the buffer, and over masters to make the weights anew
  bool fuses_loss = false;             ///< the standard loss is one kernel, which reads the 16-bit logits
  bool loss_in_passes = false;         ///< the softmax of the loss passes over the fp32 logits, an operation at a time
  bool heavy_modules = false;          ///< a module around a product does more on the host than the product's own call
  bool compiled_host = false;      ///< a program without an interpreter: handing over costs it less than kernels take
  bool waits_for_kernels = false;  ///< the host hands over one kernel when the one before is done
  AttentionLibrary attention_library = AttentionLibrary::flash_2;
  bool keeps_narrow_inputs = false;  ///< 8- and 4-bit products keep their narrow copies (Transformer Engine); others
                                     ///< make them at each use (torchao)
  bool casts_in_one_pass = false;    ///< by scales of earlier steps (Transformer Engine's delayed scaling)
  bool narrows_experts = true;       ///< the experts' products are 8- and 4-bit ones too
  std::int64_t product_layouts =
      2;  ///< copies of a narrow weight: row-wise, and column-wise for the gradients' products
  ZeroEngine zero;

  bool allocates_tensors = false;  ///< PyTorch's allocator has each weight and state by itself, not in one buffer

  quantity::Bytes expert_workspace;  ///< of grouped matrix products, where the model has experts
  quantity::Bytes workspace;         ///< matrix-product workspaces, inside `allocated`
  quantity::Bytes context;           ///< CUDA context and loaded kernels, outside `allocated`
  double reserved_over_allocated = 1.0;
};

/// Whether the gradient of a micro-batch exists beside those that it is added to.
inline bool accumulates_apart(const Profile& profile) {
  return profile.accumulation == Accumulation::apart || profile.accumulation == Accumulation::apart_widened;
}

/// The profile of a framework with the run's own switches (fused kernels, compile, optimizer implementation) applied.
/// \param gpu  decides the workspace size; empty: the value of current data-centre parts
Profile make_profile(const spec::Training& training, const std::optional<spec::Accelerator>& gpu);

}  // namespace llmcalc::frameworks
