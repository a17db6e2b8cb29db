#include "frameworks/megatron_frameworks.hpp"

#include "frameworks/workspaces.hpp"

namespace llmcalc::frameworks {

using quantity::bytes;
using quantity::mib;
using spec::Framework;

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

bool is_blackwell(const std::optional<spec::Accelerator>& gpu) {
  return gpu && gpu->arch.find("Blackwell") != std::string::npos;
}

bool is_local(const spec::Training& training) { return training.transformer_impl == spec::TransformerImpl::local; }

/// Kernels of Transformer Engine, or those that Megatron-LM had before: without FlashAttention, in Megatron-DeepSpeed.
bool runs_transformer_engine(const spec::Training& training) {
  return training.framework != Framework::megatron_deepspeed && !is_local(training) &&
         training.attention != spec::AttentionKernel::eager;
}

/// Megatron-LM's sequences lie position by position, FlashAttention's sample by sample: its result is copied, and the
/// projection keeps the copy beside the kernel's own. cuDNN reads Megatron's layout. Transformer Engine prefers
/// FlashAttention before Hopper, and after it where cuDNN has no deterministic backward pass (TransformerEngine
/// pytorch/attention/dot_product_attention/utils.py, get_attention_backend; backends.py, FlashAttention.forward).
bool copies_attention_output(const spec::Training& training, const std::optional<spec::Accelerator>& gpu, bool hopper) {
  if (training.attention == spec::AttentionKernel::eager || is_local(training)) return false;
  return !hopper || (is_blackwell(gpu) && training.deterministic.value_or(false));
}

/// Gradients are reduced while the backward pass makes them where optimizer states are sharded (--overlap-grad-reduce
/// goes with --use-distributed-optimizer in every recipe of NeMo and Megatron-Bridge); Megatron's older data
/// parallelism and Megatron-DeepSpeed reduce them behind it, and so does a named Megatron-LM, whose own default is off
/// (training/arguments.py).
bool reduces_meanwhile(const spec::Training& training) {
  return runs_transformer_engine(training) && !training.framework_version.starts_with("Megatron-LM");
}

/// Megatron-LM's linear layers add to the gradient buffer inside the weight gradient's product
/// (--no-gradient-accumulation-fusion turns it off), llm.c within its own products; InternEvo and Colossal-AI leave it
/// to autograd.
Accumulation accumulation_of(Framework framework) {
  const bool by_autograd = framework == Framework::internevo || framework == Framework::colossalai;
  return by_autograd ? Accumulation::apart : Accumulation::in_product;
}

bool is_core(Framework framework) { return framework == Framework::megatron || framework == Framework::nemo; }

/// What Megatron-LM runs in kernels of their own: its gradient buffer is cleared, and scaled by the number of replicas
/// before it is reduced, and the master weights are read again to make those of the products
/// (core/distributed/param_and_grad_buffer.py, start_grad_sync and reset; core/optimizer/distrib_optimizer.py,
/// _copy_main_params_to_model_params); the loss makes its softmax operation by operation
/// (core/tensor_parallel/cross_entropy.py), unless a recipe of Megatron-Bridge has Transformer Engine's kernel instead
/// (src/megatron/bridge/recipes: cross_entropy_fusion_impl = "te"). Megatron-DeepSpeed has its heavy modules too, and
/// the kernel that drops and adds (megatron/model/transformer.py, bias_dropout_add_fused_train).
void apply_megatron_kernels(const spec::Training& training, Profile& p) {
  const Framework framework = training.framework;
  p.passes_over_gradients = is_core(framework);
  p.loss_in_passes = is_core(framework);
  p.fuses_loss = training.framework_version.starts_with("Megatron-Bridge");
  p.heavy_modules = is_core(framework) || framework == Framework::megatron_deepspeed;
  p.fuses_dropout_add = p.heavy_modules;
}

/// Updated weights are broadcast by the rank that owns them, one after the other and beside nothing
/// (solver/optimizer/hybrid_zero_optim.py; configs/_base_/models: overlap_sync_param=False). Gradients are flattened,
/// reduced on all data-parallel ranks whatever zero1 is, and copied back (hybrid_zero_optim.py, _attach_reduction_hook
/// with reduce_rank=None, _reduce_and_copy). Norms take `residual.float()` and an MLP has its gate in a matrix of its
/// own (model/modeling_internlm.py; model/linear.py, FeedForward). Accuracy and perplexity of each micro-batch read the
/// fp32 logits seven times and write them twice (model/metrics.py, AccPerplex.update).
void apply_internevo(Profile& p) {
  p.sends_by_owner = true;
  p.reduces_whole_gradients = true;
  p.passes_around_reduction = 4;
  p.widens_norm = true;
  p.fused_gate_and_up = false;
  p.metric_bytes = std::int64_t{9} * 4;
}

/// A program in C++ that allocates everything once (train_gpt2.cu, malloc_and_point_activations): the logits and their
/// gradient have one buffer (llmc/fused_classifier.cuh), cuDNN writes attention's result where the projection reads it
/// (llmc/cudnn_att.cpp), biases have a kernel for their gradients (llmc/matmul.cuh, matmul_backward_bias_kernel9), and
/// AdamW reads gradients in the type of the products (llmc/adamw.cuh). One workspace (llmc/cublas_common.h).
void apply_llm_c(Profile& p) {
  p.fuses_loss = true;
  p.copies_attention_output = false;
  p.sums_biases_apart = true;
  p.widens_gradients_at_step = false;
  p.dummy_weight_gradients = false;
  p.compiled_host = true;
  p.workspace = mib(32);
}

/// Narayanan et al. 2021, arXiv:2104.04473 section 4.1; DeepSpeed's pipeline engine does the same
/// (runtime/pipe/engine.py, is_pipe_partitioned).
bool scatters_stage_tensors(Framework framework) {
  return framework == Framework::megatron || framework == Framework::nemo || framework == Framework::megatron_deepspeed;
}

/// NVIDIA's recipes turn on --tp-comm-overlap, by which Transformer Engine passes slices on while it multiplies others
/// (Megatron-Bridge docs/training/communication-overlap.md; NeMo docs, communication overlap).
bool runs_recipes(const spec::Training& training) {
  return training.framework == Framework::nemo || training.framework_version.starts_with("Megatron-Bridge");
}

/// BigScience's fork of Megatron-DeepSpeed left Megatron-LM before it did so (megatron/mpu/layers.py,
/// ColumnParallelLinear.forward: copy_to_tensor_model_parallel_region); the current one follows Megatron-LM
/// (core/tensor_parallel/layers.py, LinearWithGradAccumulationAndAsyncCommunication).
bool reduces_beside_products(const spec::Training& training) {
  return training.framework != Framework::megatron_deepspeed || !training.framework_version.starts_with("BigScience");
}

/// Megatron-DeepSpeed writes rotary embedding and SwiGLU as chains of tensor operations
/// (megatron/model/rotary_pos_embedding.py, apply_rotary_pos_emb; megatron/model/transformer.py, swiglu).
bool fuses_activations(Framework framework) { return framework != Framework::megatron_deepspeed; }

/// Hopper's 8-bit products take both factors with the summed dimension last, so weights rest transposed too;
/// Blackwell's take either order, but block-scaled formats have scales along each dimension (TransformerEngine
/// pytorch/tensor).
std::int64_t product_layouts(const spec::Training& training, const std::optional<spec::Accelerator>& gpu) {
  return is_blackwell(gpu) && formats::facts(training.precision.compute).scale.block == 0 ? 1 : 2;
}

/// Workspaces and layouts of Megatron-LM's kernels.
void apply_workspaces(const spec::Training& training, const std::optional<spec::Accelerator>& gpu, Profile& p) {
  const bool hopper = is_hopper_or_newer(gpu);
  const auto engine = transformer_engine_workspace(hopper);
  p.workspace = 2 * cublas_workspace(hopper, training.deterministic.value_or(false));
  if (!is_local(training)) p.workspace += engine;
  if (training.grouped_experts && !is_local(training)) p.expert_workspace = grouped_product_streams * engine;
  p.copies_attention_output = copies_attention_output(training, gpu, hopper);
  p.keeps_score_buffer = is_local(training) && training.attention == spec::AttentionKernel::eager;
  p.allocates_tensors = is_core(training.framework);
  p.keeps_narrow_inputs = true;
  p.product_layouts = product_layouts(training, gpu);
  p.drops_wide_gradients = true;  // core/optimizer/optimizer.py, Float16OptimizerWithFloat16Params.zero_grad
  p.widens_gradients_at_step = !training.precision.master_remainder;
}

}  // namespace

/// Megatron-LM with Transformer Engine kernels and fp32 gradient buffers.
Profile megatron_profile(const spec::Training& training, const std::optional<spec::Accelerator>& gpu) {
  Profile p;
  p.fuses_small_gradients = runs_transformer_engine(training);
  p.overlaps_data_exchange = reduces_meanwhile(training);
  p.accumulation = accumulation_of(training.framework);
  apply_megatron_kernels(training, p);
  p.fuses_rotary = p.fused_glu = fuses_activations(training.framework);
  if (training.framework == Framework::internevo) apply_internevo(p);
  p.overlaps_tensor_exchange = runs_recipes(training);
  p.fuses_norm_into_product = true;
  p.retains_stage_tensors = true;
  p.overlaps_input_gradients = reduces_beside_products(training);
  p.scatters_stage_tensors = scatters_stage_tensors(training.framework);
  p.keeps_ring_steps = true;
  p.router_overload = untrained_router_overload;
  p.weighs_activations = true;
  p.transforms_before_head = true;
  p.holds_routed_rows = is_core(training.framework);
  p.dummy_weight_gradients = true;
  apply_workspaces(training, gpu, p);
  if (training.framework == Framework::llm_c) apply_llm_c(p);
  return p;
}

}  // namespace llmcalc::frameworks
