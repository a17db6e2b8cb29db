// What a framework allocates, as choices for the program: which copies, which saved tensors, which buffers.
// Frameworks that allocate alike share a profile. A profile never holds a correction factor.
#pragma once

#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/accelerator.hpp"
#include "llmcalc/spec/training.hpp"

#include <optional>

namespace llmcalc::program {

struct Profile {
  /// fused: one kernel that keeps its input. eager: a chain of tensor operations, each keeping what autograd needs.
  bool fused_norm = true;
  bool fused_glu = true;
  bool fused_adapters = false;       ///< low-rank adapters run in kernels that also keep the layer's own input
  bool widens_adapter_input = false; ///< inputs of fp32 adapters are cast to fp32, and their products run in it
  bool fused_projections = true;     ///< q,k,v as one matrix and gate,up as one matrix
  bool keeps_norm_statistics = true; ///< fp32 mean and reciprocal deviation a token
  bool keeps_log_sum_exp = true;     ///< fp32 a token and head (FlashAttention)
  bool repeats_kv = false;           ///< grouped keys and values are expanded to all query heads
  bool softmax_in_fp32 = false;      ///< unfused attention takes its softmax in fp32 and casts the result
  bool models_kernel_workspace = true; ///< scratch memory inside kernels (attention backward)
  bool holds_narrow_logits = true;   ///< the 16-bit logits stay referenced beside their fp32 copy
  bool shifts_logits = false;        ///< the loss works on a contiguous copy of all logits but the last position's
  bool keeps_batch = false;          ///< token ids, labels and mask (int64) stay on the device during the step
  bool eager_loss = false;           ///< log_softmax and nll as separate fp32 tensors instead of in-place
  bool keeps_expert_outputs = false; ///< the router's weights multiply the experts' outputs, which are kept for it

  bool retains_frozen_inputs = false; ///< sharded frozen layers keep inputs and their gradients to the end of the pass
  bool persistent_gradients = true;  ///< one buffer for the whole run; otherwise .grad is made in each backward pass
  bool fused_gradient_accumulation = true;  ///< the weight gradient's product adds to the buffer inside the kernel
  bool retains_stage_tensors = false;     ///< a pipeline stage keeps its received and sent tensor between steps
  bool dummy_weight_gradients = false;    ///< one scratch gradient a distinct matrix shape (fused accumulation)
  int optimizer_temporaries = 0;     ///< parameter-sized temporaries of the step, in the type of the moments

  quantity::Bytes expert_workspace;  ///< of grouped matrix products, where the model has experts
  quantity::Bytes workspace;         ///< matrix-product workspaces, inside `allocated`
  quantity::Bytes context;           ///< CUDA context and loaded kernels, outside `allocated`
  double reserved_over_allocated = 1.0;
  const char* source = "";           ///< where workspace, context and ratio were read
};

/// The profile of a framework with the run's own switches (fused kernels, compile, optimizer implementation) applied.
/// \param gpu  decides the workspace size; empty: the value of current data-centre parts
Profile make_profile(const spec::Training& training, const std::optional<spec::Accelerator>& gpu);

}  // namespace llmcalc::program
