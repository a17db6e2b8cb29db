// What a framework allocates and runs, as choices for the program: which copies, saved tensors, buffers and kernels.
// Frameworks that allocate alike share a profile. A profile never holds a correction factor; what was measured because
// nothing says it stands apart, in `Measured`.
#pragma once

#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/accelerator.hpp"
#include "llmcalc/spec/layout.hpp"
#include "llmcalc/spec/training.hpp"

#include <cstdint>
#include <optional>

namespace llmcalc::frameworks {

/// How the kernels of a layer are cut, and what passes between them.
struct Kernels {
  bool eager = false;                 ///< memory-bound operations run in PyTorch's own kernels
  bool fuse_dropout_add = false;      ///< one kernel drops from a branch and adds the residual
  bool transformers_modules = false;  ///< each family's layers are written as transformers writes them
  bool saves_products = false;        ///< selective recompute keeps attention and every second matrix product's result
  bool stops_recompute = false;       ///< a checkpointed layer runs again as far as something is kept, no further
  bool hand_on_narrow = false;        ///< hidden states rest in the type of products, whatever the weights rest in
  bool have_workspace = true;         ///< kernels have scratch memory of their own, as attention's backward has

  friend bool operator==(const Kernels&, const Kernels&) = default;
};

struct NormChoices {
  bool fused = true;                ///< one kernel keeps its input; else a chain keeps what autograd needs
  bool keeps_statistics = true;     ///< the fp32 mean and reciprocal deviation of each token are kept
  bool widens = false;              ///< the norm's input is cast to fp32 and its result back
  bool weighs_wide = false;         ///< an eager RMSNorm stays fp32 until it has been weighted
  bool fuses_into_product = false;  ///< norm and the matrix product that reads it are one module

  friend bool operator==(const NormChoices&, const NormChoices&) = default;
};

/// Whose fused kernel runs where attention is fused.
enum class AttentionLibrary {
  native,   ///< the one written for the generation: FlashAttention-3, cuDNN's
  flash_2,  ///< FlashAttention-2, on every generation
  flash_1,  ///< the first FlashAttention
  triton,   ///< FlashAttention in Triton
};

struct AttentionChoices {
  AttentionLibrary library = AttentionLibrary::flash_2;
  bool fused_projections = true;          ///< queries, keys and values are made by one matrix
  bool fuses_rotary = true;               ///< rotary embedding is one kernel instead of a chain of operations
  bool rotates_complex = false;           ///< rotary embedding multiplies complex numbers, which no compiler fuses
  bool rotates_into_copies = false;       ///< queries and keys are rotated beside the projection they came from
  bool repeats_kv = false;                ///< grouped keys and values are expanded to all query heads
  bool groups_in_kernel = false;          ///< a fused kernel reads grouped keys and values, which are not expanded
  bool copies_heads = true;               ///< a fused kernel reads no part of a larger tensor, and no expanded head
  bool keeps_log_sum_exp = true;          ///< FlashAttention keeps fp32 for each token and head
  bool copies_output = false;             ///< of several sequences: the kernel's layout differs, and both stay
  bool writes_out_scores = false;         ///< attention is two products and a softmax, whatever kernel is asked for
  bool sdpa_lacks_caps = false;           ///< PyTorch's attention is refused where a tanh caps the scores
  bool writes_out_capped_scores = false;  ///< no fused kernel runs where a tanh caps the scores
  bool keeps_score_buffer = false;        ///< unfused attention writes scores beside a buffer that outlives the step
  bool softmax_in_fp32 = false;           ///< unfused attention takes its softmax in fp32 and casts the result
  bool chains_softmax = false;            ///< unfused attention scales, masks, casts and drops in kernels of their own
  bool gathers_heads = false;             ///< ranks that share key and value heads gather what products made of them
  bool keeps_ring_steps = false;          ///< ring attention frees nothing of a step before the last one
  bool merges_ring_steps = false;         ///< ring attention merges them in kernels of their own, in fp32

  friend bool operator==(const AttentionChoices&, const AttentionChoices&) = default;
};

struct MlpChoices {
  bool fused_glu = true;          ///< activation and gate are one kernel
  bool fused_gate_and_up = true;  ///< gate and up projection are one matrix
  bool clamps_apart = false;      ///< where the family clamps them, in PyTorch's kernels ahead of that one

  friend bool operator==(const MlpChoices&, const MlpChoices&) = default;
};

struct ExpertChoices {
  bool weighs_activations = false;   ///< the router's weights multiply what ungated experts' down projection reads
  bool keeps_outputs = false;        ///< the router's weights multiply the experts' outputs, which are kept for it
  bool weighs_results_wide = false;  ///< the experts' outputs are weighted in fp32, and those copies are kept instead
  bool holds_routed_rows = false;    ///< local variables hold routed rows to the end, and shared experts run first
  bool run_in_loop = false;          ///< one expert at a time takes its rows and adds its results to the output
  bool one_product = false;          ///< a grouped kernel multiplies all experts' rows
  bool one_parameter = false;        ///< gate and up projections of all experts are one, their down projections another
  bool loops_over_biases = false;    ///< their biases are added one expert after another
  bool keeps_added_rows = false;     ///< what such a loop adds to the output is kept
  bool narrow = true;                ///< the experts' products are 8- and 4-bit ones where the others are
  quantity::Bytes workspace;         ///< of grouped matrix products, where the model has experts

  friend bool operator==(const ExpertChoices&, const ExpertChoices&) = default;
};

/// The output head, the loss behind it, and the metrics that a training loop takes of its logits.
struct HeadChoices {
  bool eager = false;                     ///< kernels around the layers are PyTorch's own, though layers are compiled
  bool untied = false;                    ///< the head is a matrix of its own though the checkpoint's is the table
  bool transforms_before = false;         ///< masked language models have BERT's whole head, not the encoder alone
  std::int64_t positions_at_once = 0;     ///< of each sample, on which head and loss run; 0: all
  bool shifts_logits = false;             ///< the loss works on a contiguous copy of all logits but the last position's
  bool in_own_type = false;               ///< the loss has the type of the logits, which autocast alone widens
  bool narrow_by_family = false;          ///< families whose own loss did not widen the logits have that one
  bool holds_narrow_logits = true;        ///< the 16-bit logits stay referenced beside their fp32 copy
  bool holds_wide_logits = false;         ///< the training loop keeps the fp32 logits through the backward pass
  bool eager_loss = false;                ///< log_softmax and nll are separate fp32 tensors instead of in-place
  bool narrow_loss_kernel = false;        ///< one kernel keeps the 16-bit logits and makes their 16-bit gradient
  bool takes_zero_gradient = false;       ///< of a compiled kernel beside the loss, for logits that the model returns
  bool parts_softmax = false;             ///< of cut logits, which a kernel for whole rows cannot take, it is a chain
  bool fuses_loss = false;                ///< the standard loss is one kernel, which reads the 16-bit logits
  quantity::Bytes loss_tile;              ///< of fp32 logits, that a fused linear loss has at once; 0: Liger-Kernel's
  bool makes_tiles_again = false;         ///< ... which are made again backward, with gradients in fp32 (TRL)
  bool loss_in_passes = false;            ///< the softmax of the loss passes over fp32 logits, operation by operation
  std::int64_t metric_bytes = 0;          ///< of a logit, that metrics of every micro-batch pass over
  bool runs_forward_for_metrics = false;  ///< every micro-batch has a forward pass more, for metrics

  friend bool operator==(const HeadChoices&, const HeadChoices&) = default;
};

struct AdapterChoices {
  bool fused = false;                    ///< low-rank adapters run in kernels that also keep the layer's own input
  bool widens_input = false;             ///< inputs of fp32 adapters are cast to fp32, and their products run in it
  bool through_fp32 = false;             ///< inputs of fp32 adapters are cast to fp32, and narrowed by each product
  bool in_place = false;                 ///< kernels of q, k, v and of the MLP write gradients over what they kept
  bool add_by_product = false;           ///< ... and the second product adds to the frozen one's result
  bool pads_output = false;              ///< one adapter serves q, k and v, padded for those that have none
  bool retains_frozen_inputs = false;    ///< sharded frozen layers keep inputs and their gradients to the pass's end
  bool own_units = false;                ///< each adapter is gathered by itself, apart from its layer
  std::int64_t prompt_layers_start = 0;  ///< layers below have no adaption prompt (LLaMA-Adapter), so no gradients

  friend bool operator==(const AdapterChoices&, const AdapterChoices&) = default;
};

/// Frozen weights of 8 and 4 bits that are widened at each use.
struct QuantizedChoices {
  bool head = false;               ///< the output head is quantized with the layers
  bool scales = false;             ///< those of NF4 are always quantized again, and sharded with the codes
  bool keeps_inputs = false;       ///< products with quantized matrices keep their input for the backward pass
  int dequantized_copies = 1;      ///< 16-bit copies that a product with a quantized matrix makes of it at once
  bool keeps_input_type = false;   ///< such a product casts its input to its type, and what it makes back
  bool copies_outputs = false;     ///< what such a product made is copied before its adapters are added
  int calls = 1;                   ///< operations that the host could hand over while it hands over such a product
  bool unpacks_by_steps = false;   ///< codes of GPTQ become weights in PyTorch's own kernels, one after another
  std::int64_t loading_bytes = 0;  ///< of temporaries for an element of a matrix, when it is quantized to be trained

  friend bool operator==(const QuantizedChoices&, const QuantizedChoices&) = default;
};

/// Products in 8 and 4 bits.
struct NarrowChoices {
  bool keeps_inputs = false;  ///< narrow copies are kept (Transformer Engine) instead of made at each use (torchao)
  bool scales_rows = false;   ///< by --fp8-scaling (torchao)
  bool casts_in_one_pass = false;  ///< scales are those of earlier steps (Transformer Engine's delayed scaling)
  std::int64_t layouts = 2;        ///< copies of a narrow weight: row-wise, and column-wise for gradients' products

  friend bool operator==(const NarrowChoices&, const NarrowChoices&) = default;
};

/// Who adds the weight gradients of a micro-batch to those of the ones before.
enum class Accumulation {
  uncounted,      ///< the textbook: a product's result is the gradient
  in_product,     ///< the weight gradient's product, inside its kernel
  apart,          ///< a kernel behind it, in the type in which gradients accumulate
  apart_widened,  ///< a kernel behind it, after another has cast the 16-bit gradient to that type
};

struct GradientChoices {
  Accumulation accumulation = Accumulation::uncounted;
  bool persistent = true;          ///< one buffer lasts for the whole run; else each backward pass makes .grad
  bool accumulates_whole = false;  ///< sharded gradients stay whole between micro-batches, frozen parts too
  bool drops_wide = false;         ///< fp32 copies last from the optimizer step to the beginning of the next one
  bool dummy_weight = false;       ///< fused accumulation has one scratch gradient for each distinct matrix shape
  bool fuses_small = true;         ///< those of biases and norms are made in kernels that read the same tensors anyway
  bool sums_biases_apart = false;  ///< those of biases have a kernel of the program's own

  /// Whether the gradient of a micro-batch exists beside those that it is added to.
  constexpr bool accumulate_apart() const {
    return accumulation == Accumulation::apart || accumulation == Accumulation::apart_widened;
  }

  friend bool operator==(const GradientChoices&, const GradientChoices&) = default;
};

/// Tensors that the training loop itself holds on to.
struct LoopChoices {
  bool keeps_batch = false;          ///< token ids, labels and mask (int64) stay on the device during the step
  bool starts_with_longest = false;  ///< the first micro-batch is the longest: nothing of an earlier one lies beside it
  bool keeps_last_graph = false;     ///< a micro-batch's graph is kept until the next one has its loss
  int checkpoint_buffers = 0;        ///< last for the run; checkpoints that rest on the host come back into them

  friend bool operator==(const LoopChoices&, const LoopChoices&) = default;
};

/// Communication buffers of a ZeRO engine, in elements; all 0 where the framework has none.
struct ZeroEngine {
  std::int64_t reduce_bucket = 0;     ///< gradients collected before they are reduced
  std::int64_t gather_bucket = 0;     ///< updated weights gathered at once after the step
  std::int64_t prefetch_bucket = 0;   ///< weights gathered ahead of the layer that runs (stage 3)
  std::int64_t smallest_sharded = 0;  ///< smaller tensors stay whole (stage 3)
  std::int64_t step_group = 0;        ///< whose gradients are widened at once (stage 3)

  friend bool operator==(const ZeroEngine&, const ZeroEngine&) = default;
};

struct ExchangeChoices {
  bool copies = false;                    ///< tensor-parallel ranks put what they gather or scatter in order
  bool keeps_gathered_inputs = false;     ///< what tensor-parallel ranks gather is kept for the weight's gradient
  bool overlaps_input_gradients = true;   ///< tensor-parallel ranks reduce them beside the weight gradient's product
  bool overlaps_tensor = false;           ///< tensor-parallel exchanges run beside the products around them
  bool overlaps_tensor_if_asked = false;  ///< they could, by a switch that is not modelled
  bool scatters_stage_tensors = false;    ///< each tensor-parallel rank sends its part of what stages hand on
  bool retains_stage_tensors = false;     ///< a pipeline stage keeps its received and sent tensor between steps
  bool overlaps_data = true;              ///< gradients are reduced while the last backward pass makes them
  bool overlaps_within_layer = false;     ///< one layer's exchanges run beside that layer, not beside its neighbours
  bool sends_by_owner = false;            ///< each rank sends its share of the updated weights alone, beside nothing
  bool reduces_whole_gradients = false;   ///< all data-parallel ranks reduce all, though each updates a share
  bool gathers_table_apart = false;       ///< FSDP gives the token table back behind its lookup, as a layer's weights
  bool reduces_narrow = false;            ///< gradients travel in the type of the products, however they are added up
  int passes_around_reduction = 0;        ///< over the gradients, into the tensor that is reduced and back
  ZeroEngine zero;

  friend bool operator==(const ExchangeChoices&, const ExchangeChoices&) = default;
};

struct StepChoices {
  bool updates_in_backward = false;  ///< each weight is updated as soon as its gradient is made, which is then dropped
  int temporaries = 0;               ///< parameter-sized temporaries of the step, in the type of the moments
  bool passes_over_gradients = false;  ///< kernels clear and scale the buffer, and read masters to make the weights
  /// Narrow gradients are copied to fp32 for the step alone (Megatron-LM core/optimizer/distrib_optimizer.py,
  /// _copy_model_grads_to_main_grads, unless the precision-aware optimizer reads them as they are; DeepSpeed likewise).
  bool widens_gradients = false;

  friend bool operator==(const StepChoices&, const StepChoices&) = default;
};

/// Work of the host between kernels.
struct HostChoices {
  bool heavy_modules = false;      ///< a module around a product does more on the host than the product's own call
  bool compiled = false;           ///< a program without an interpreter hands kernels over faster than they run
  bool waits_for_kernels = false;  ///< one kernel is handed over when the one before is done
  bool hooks_checkpoints = false;  ///< what a checkpointed layer saves passes through the interpreter, tensor by tensor

  friend bool operator==(const HostChoices&, const HostChoices&) = default;
};

struct AllocatorChoices {
  bool pools_by_stream = false;    ///< segments grow, so that what is cached is a pool for each stream's own peak
  bool allocates_tensors = false;  ///< PyTorch's allocator has each weight and state by itself, not in one buffer
  quantity::Bytes workspace;       ///< of matrix products, inside what is allocated

  friend bool operator==(const AllocatorChoices&, const AllocatorChoices&) = default;
};

/// Constants that no source states and that were measured; flags replace those of the runtime.
struct Measured {
  quantity::Bytes context;               ///< CUDA context and loaded kernels, outside what is allocated
  double reserved_over_allocated = 1.0;  ///< what the allocator holds at its peak, over what is allocated at its own
  double needed_bias = 1.0;              ///< of what must fit: a person's own runs over what was estimated of them
  double router_overload = 0.0;  ///< of the busiest expert-parallel rank, times the root of its number of experts

  friend bool operator==(const Measured&, const Measured&) = default;
};

struct Profile {
  Kernels kernels;
  NormChoices norm;
  AttentionChoices attention;
  MlpChoices mlp;
  ExpertChoices experts;
  HeadChoices head;
  AdapterChoices adapters;
  QuantizedChoices quantized;
  NarrowChoices narrow;
  GradientChoices gradients;
  LoopChoices loop;
  ExchangeChoices exchange;
  StepChoices step;
  HostChoices host;
  AllocatorChoices allocator;
  Measured measured;

  friend bool operator==(const Profile&, const Profile&) = default;
};

/// The profile of a framework with the run's own switches (fused kernels, compile, optimizer implementation) applied.
/// \param gpu  decides the workspace size; empty: the value of current data-centre parts
/// \param sharding  decides whether DeepSpeed runs what a trainer was told
Profile make_profile(const spec::Training& training, const std::optional<spec::Accelerator>& gpu,
                     spec::Sharding sharding = spec::Sharding::none);

}  // namespace llmcalc::frameworks
