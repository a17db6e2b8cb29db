#include "frameworks/inner/profiles.hpp"
#include "frameworks/release.hpp"

namespace llmcalc::frameworks {

using quantity::bytes;
using quantity::mib;

namespace {

/// Transformer Engine: 32 MiB and 1 KiB from Hopper on, 4 MiB before (cpp_extensions/gemm.py, get_cublas_workspace).
quantity::Bytes transformer_engine_workspace(bool hopper) { return hopper ? bytes(33'555'456) : mib(4); }

/// Transformer Engine runs grouped products on so many streams, each with a workspace (cpp_extensions/gemm.py,
/// get_multi_stream_cublas_workspace). A run that keeps its experts' products apart has none of these.
constexpr std::int64_t grouped_product_streams = 4;

/// Measured: with 0.2 the functional tests of mixtures on 2, 4 and 8 expert-parallel ranks peak neither above nor below
/// their estimates on average; single ones lie between 0, of a balancing router, and 0.8. Choices that are independent
/// from token to token would make it a tenth of that (a multinomial of 8,192), but equal tokens go the same way.
constexpr double untrained_router_overload = 0.2;

bool has(const std::optional<spec::Accelerator>& gpu, spec::Ability ability) {
  return gpu && gpu->generation.can(ability);
}

bool is_local(const spec::Training& training) { return training.transformer_impl == spec::TransformerImpl::local; }

/// Kernels of Transformer Engine, or those that Megatron-LM had before: without FlashAttention.
bool runs_transformer_engine(const spec::Training& training) {
  return !is_local(training) && training.attention != spec::AttentionKernel::eager;
}

/// Megatron-LM's sequences lie position by position, FlashAttention's sample by sample: its result is copied, and the
/// projection keeps the copy beside the kernel's own. cuDNN reads Megatron's
/// layout. Transformer Engine prefers FlashAttention before Hopper, and after it where cuDNN has no deterministic
/// backward pass (TransformerEngine pytorch/attention/dot_product_attention/utils.py, get_attention_backend;
/// backends.py, FlashAttention.forward).
bool copies_attention_output(const Run& run, bool hopper) {
  const spec::Training& training = run.training;
  if (training.attention == spec::AttentionKernel::eager || is_local(training)) return false;
  return !hopper || (has(run.gpu, spec::Ability::flash_for_equal_results) && training.deterministic.value_or(false));
}

/// Hopper's 8-bit products take both factors with the summed dimension last, so weights rest transposed too;
/// Blackwell's take either order, but block-scaled formats have scales along each dimension (TransformerEngine
/// pytorch/tensor).
std::int64_t product_layouts(const Run& run) {
  return has(run.gpu, spec::Ability::any_order) && formats::facts(run.training.precision.compute).scale.block == 0 ? 1
                                                                                                                   : 2;
}

/// Workspaces and layouts of Megatron-LM's kernels. Without the fused softmax (Apex, or --no-masked-softmax-fusion)
/// the scores are widened, scaled, masked and narrowed one after another, and the wide probabilities are kept
/// (core/fusions/fused_softmax.py, forward_torch_softmax).
void apply_workspaces(const Run& run, Profile& p) {
  const spec::Training& training = run.training;
  const bool hopper = spec::can(run.gpu, spec::Ability::large_workspaces);
  const auto engine = transformer_engine_workspace(hopper);
  p.allocator.workspace = product_workspaces(run);
  if (!is_local(training)) p.allocator.workspace += engine;
  if (training.grouped_experts && !is_local(training)) p.experts.workspace = grouped_product_streams * engine;
  p.attention.copies_output = copies_attention_output(run, hopper);
  p.attention.softmax_in_fp32 = p.attention.chains_softmax = !training.softmax_fusion;
  p.attention.keeps_score_buffer = is_local(training) && training.attention == spec::AttentionKernel::eager;
}

/// Traits that all of them have from Megatron-LM: linear layers add to the gradient buffer inside the weight gradient's
/// product (--no-gradient-accumulation-fusion turns it off). Gradients are reduced while the backward pass makes them
/// where optimizer states are sharded (--overlap-grad-reduce goes with --use-distributed-optimizer in every recipe of
/// NeMo and Megatron-Bridge).
Profile shared_profile(const Run& run) {
  const spec::Training& training = run.training;
  Profile p;
  p.gradients.fuses_small = runs_transformer_engine(training);
  p.gradients.accumulation = Accumulation::in_product;
  p.gradients.dummy_weight = true;
  p.gradients.drops_wide = true;  // core/optimizer/optimizer.py, Float16OptimizerWithFloat16Params.zero_grad
  p.exchange.overlaps_data = runs_transformer_engine(training);
  p.exchange.retains_stage_tensors = true;
  p.norm.fuses_into_product = true;
  p.attention.keeps_ring_steps = true;
  p.experts.weighs_activations = true;
  p.measured.router_overload = untrained_router_overload;
  p.head.transforms_before = true;
  p.narrow.keeps_inputs = true;
  p.narrow.layouts = product_layouts(run);
  p.step.temporaries = step_temporaries(training);
  p.step.widens_gradients = !training.precision.master_remainder;
  apply_workspaces(run, p);
  return p;
}

/// Work that Megatron-LM runs in kernels of its own: its gradient buffer is cleared, and scaled by the number of
/// replicas before it is reduced, and the master weights are read again to make those of the products
/// (core/distributed/param_and_grad_buffer.py, start_grad_sync and reset; core/optimizer/distrib_optimizer.py,
/// _copy_main_params_to_model_params); the loss makes its softmax operation by operation
/// (core/tensor_parallel/cross_entropy.py). Stages scatter what they hand on (Narayanan et al. 2021, arXiv:2104.04473
/// section 4.1).
Profile core_profile(const Run& run) {
  Profile p = shared_profile(run);
  p.attention.library = AttentionLibrary::native;
  p.attention.gathers_heads = true;
  p.step.passes_over_gradients = true;
  p.head.loss_in_passes = true;
  p.host.heavy_modules = true;
  p.kernels.fuse_dropout_add = true;
  p.exchange.scatters_stage_tensors = true;
  p.experts.holds_routed_rows = p.experts.loops_over_biases = true;
  p.mlp.clamps_apart = true;
  p.allocator.allocates_tensors = true;
  return p;
}

/// BigScience's fork of Megatron-DeepSpeed left Megatron-LM before it reduced beside products (megatron/mpu/layers.py,
/// ColumnParallelLinear.forward: copy_to_tensor_model_parallel_region); the current one follows Megatron-LM
/// (core/tensor_parallel/layers.py, LinearWithGradAccumulationAndAsyncCommunication).
bool reduces_beside_products(const spec::Training& training) {
  return holds(Behaviour::megatron_deepspeed_exchange, training.software);
}

/// InternEvo shipped flash-attn 1.0.5 in 2023 (InternLM requirements, third_party/flash-attention).
AttentionLibrary library_of_internevo(const spec::Training& training) {
  return holds(Behaviour::internevo_flash_2, training.software) ? AttentionLibrary::flash_2 : AttentionLibrary::flash_1;
}

}  // namespace

/// Gradients are reduced behind the backward pass, as its own default has it (training/arguments.py).
Profile megatron_profile(const Run& run) {
  Profile p = core_profile(run);
  p.exchange.overlaps_data = false;
  return p;
}

/// Its recipes have Transformer Engine's kernel for the loss (src/megatron/bridge/recipes: cross_entropy_fusion_impl =
/// "te") and turn on --tp-comm-overlap (docs/training/communication-overlap.md).
Profile megatron_bridge_profile(const Run& run) {
  Profile p = nemo_profile(run);
  p.head.fuses_loss = true;
  return p;
}

/// NVIDIA's recipes turn on --tp-comm-overlap, by which Transformer Engine passes slices on while it multiplies others
/// (NeMo docs, communication overlap).
Profile nemo_profile(const Run& run) {
  Profile p = core_profile(run);
  p.exchange.overlaps_tensor = true;
  return p;
}

/// Megatron-DeepSpeed has Megatron-LM's heavy modules and the kernel that drops and adds
/// (megatron/model/transformer.py, bias_dropout_add_fused_train), but none of Transformer Engine's, and reduces
/// gradients behind the backward pass; it writes rotary embedding and SwiGLU as chains of tensor operations
/// (megatron/model/rotary_pos_embedding.py, apply_rotary_pos_emb; megatron/model/transformer.py, swiglu). DeepSpeed's
/// pipeline scatters what stages hand on (runtime/pipe/engine.py, is_pipe_partitioned).
Profile megatron_deepspeed_profile(const Run& run) {
  Profile p = shared_profile(run);
  p.gradients.fuses_small = false;
  p.exchange.overlaps_data = false;
  p.exchange.overlaps_input_gradients = reduces_beside_products(run.training);
  p.exchange.scatters_stage_tensors = true;
  p.host.heavy_modules = true;
  p.kernels.fuse_dropout_add = true;
  p.attention.fuses_rotary = p.mlp.fused_glu = false;
  apply_deepspeed(run, p);
  return p;
}

/// Gradients are left to autograd. Updated weights are broadcast by the rank that owns them, one after the other and
/// beside nothing (solver/optimizer/hybrid_zero_optim.py; configs/_base_/models: overlap_sync_param=False). Gradients
/// are flattened, reduced on all data-parallel ranks whatever zero1 is, and copied back (hybrid_zero_optim.py,
/// _attach_reduction_hook with reduce_rank=None, _reduce_and_copy). Norms take `residual.float()` and an MLP has its
/// gate in a matrix of its own (model/modeling_internlm.py; model/linear.py, FeedForward). Accuracy and perplexity of
/// each micro-batch read the fp32 logits seven times and write them twice (model/metrics.py, AccPerplex.update).
Profile internevo_profile(const Run& run) {
  Profile p = shared_profile(run);
  p.attention.library = library_of_internevo(run.training);
  p.gradients.accumulation = Accumulation::apart;
  p.exchange.sends_by_owner = true;
  p.exchange.reduces_whole_gradients = true;
  p.exchange.passes_around_reduction = 4;
  p.norm.widens = true;
  p.mlp.fused_gate_and_up = false;
  p.head.metric_bytes = std::int64_t{9} * 4;
  return p;
}

/// Gradients are left to autograd.
Profile colossalai_profile(const Run& run) {
  Profile p = shared_profile(run);
  p.gradients.accumulation = Accumulation::apart;
  return p;
}

/// A program in C++ that allocates everything once (train_gpt2.cu, malloc_and_point_activations): the logits and their
/// gradient have one buffer (llmc/fused_classifier.cuh), cuDNN writes attention's result where the projection reads it
/// (llmc/cudnn_att.cpp), biases have a kernel for their gradients (llmc/matmul.cuh, matmul_backward_bias_kernel9), and
/// AdamW reads gradients in the type of the products (llmc/adamw.cuh). One workspace (llmc/cublas_common.h).
Profile llm_c_profile(const Run& run) {
  Profile p = shared_profile(run);
  p.attention.library = AttentionLibrary::native;
  p.attention.copies_output = false;
  p.head.fuses_loss = true;
  p.gradients.sums_biases_apart = true;
  p.gradients.dummy_weight = false;
  p.step.widens_gradients = false;
  p.host.compiled = true;
  p.allocator.workspace = mib(32);
  return p;
}

}  // namespace llmcalc::frameworks
