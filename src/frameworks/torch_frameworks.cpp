#include "frameworks/inner/profiles.hpp"
#include "frameworks/release.hpp"
#include "frameworks/table.hpp"

namespace llmcalc::frameworks {

using spec::Method;

namespace {

bool is_quantized(const spec::Training& training) { return formats::is_quantized(training.precision.weights); }

/// As bitsandbytes' Linear4bit keeps it.
bool rests_in_4bit(formats::Dtype weights) {
  using formats::Dtype;
  return weights == Dtype::nf4 || weights == Dtype::nf4_dq || weights == Dtype::fp4 || weights == Dtype::fp4_dq;
}

bool is_of_bitsandbytes(formats::Dtype weights) { return rests_in_4bit(weights) || weights == formats::Dtype::int8; }

/// peft makes FSDP units of adapters that are modules (utils/other.py, fsdp_auto_wrap_policy), which leaves the layers
/// around them frozen units. FSDP hooks the inputs of such a unit, and the hook holds them and their gradients until
/// all backward passes have run (torch/distributed/fsdp/_runtime_utils.py, _register_post_backward_reshard_only_hook).
/// AdaLoRA's adapters are parameters of the layer itself (tuners/adalora/layer.py).
bool has_adapter_modules(Method method) {
  return method == Method::lora || method == Method::qlora || method == Method::dora;
}

bool is_checkpointed(const spec::Training& training) {
  return training.recompute.policy == spec::RecomputePolicy::full;
}

/// bitsandbytes kept the input of every 4-bit product until release 0.43.2 of July 2024.
bool keeps_inputs_of_4bit_products(const spec::Training& training) {
  return !holds(Behaviour::quantized_inputs_dropped, training.software);
}

/// Until release 0.14 of May 2023 Composer evaluated each micro-batch once more, before it was trained on, for the
/// metrics of training (composer/trainer/trainer.py, _eval_train_metrics: `validate(device_batch)`); later ones take
/// the outputs at hand. Of models that were measured at both times the older runs took 1.34 times as long without
/// recomputation and 1.23 times with it (medians of 10 and 18 pairs); the pass makes it 4/3 and 5/4.
bool runs_forward_for_metrics(const spec::Training& training) {
  return !holds(Behaviour::composer_metrics_of_outputs, training.software);
}

/// Operations that the host could hand over while bitsandbytes hands over a product with a 4-bit matrix: a function of
/// autograd in Python and an operation of torch.library that unpacks (bitsandbytes autograd/_functions.py, MatMul4Bit;
/// functional.py, dequantize_4bit). Eight in each of three passes: executed (tests/timing/host.csv).
constexpr int calls_of_4bit_product = 8;

/// PyTorch's checkpoints without reentrance end with the last tensor that autograd asks for, which is the input of a
/// layer's last product: that product does not run again (torch/utils/checkpoint.py, _recomputation_hook).
bool stops_early(const spec::Training& training) { return holds(Behaviour::checkpoints_stop_early, training.software); }

/// Checkpoints without reentrance: hooks in Python take each tensor that one saves, and again when it is made a second
/// time and fetched (torch/utils/checkpoint.py, _checkpoint_hook and _recomputation_hook); compiled layers save few.
void take_hooked_checkpoints(const spec::Training& training, Profile& p) {
  p.kernels.stops_recompute = stops_early(training);
  p.host.hooks_checkpoints = !training.compile;
}

bool checkpoints_without_reentrance(const spec::Training& training) {
  return !row_of(training.framework).reenters_checkpoints &&
         holds(Behaviour::checkpoints_without_reentrance, training.software);
}

/// The grouped product of other types, or on other cards, is a loop over the experts, and autocast does not narrow what
/// it multiplies (pytorch aten/src/ATen/native/cuda/GroupedBlas.cpp, _grouped_mm_cuda; transformers
/// integrations/moe.py, _grouped_mm).
bool has_grouped_kernel(const Run& run) {
  const spec::Precision& precision = run.training.precision;
  return precision.compute == formats::Dtype::bf16 && !precision.autocast &&
         spec::can(run.gpu, spec::Ability::grouped_products);
}

/// DTensor waits for each exchange. torchao swaps nn.Linear, while experts are parameters (torchtitan models/moe.py).
Profile eager_profile(const Run& run) {
  Profile p;
  p.kernels.eager = true;
  p.norm.fused = false;
  p.gradients.fuses_small = false;
  p.attention.fuses_rotary = false;
  p.exchange.overlaps_input_gradients = false;
  p.exchange.copies = true;
  p.exchange.keeps_gathered_inputs = true;
  p.mlp.fused_glu = false;
  p.attention.fused_projections = false;
  p.mlp.fused_gate_and_up = false;
  p.attention.repeats_kv = true;
  p.attention.merges_ring_steps = true;
  p.attention.copies_heads = false;
  p.attention.softmax_in_fp32 = true;
  p.head.eager_loss = true;
  p.attention.chains_softmax = true;
  p.experts.keeps_outputs = true;
  p.experts.narrow = false;
  p.narrow.scales_rows = true;
  p.gradients.persistent = false;
  p.gradients.accumulation = Accumulation::apart;
  p.loop.keeps_batch = true;
  p.head.holds_narrow_logits = false;
  p.step.temporaries = step_temporaries(run.training);
  p.allocator.workspace = product_workspaces(run);
  p.allocator.allocates_tensors = true;
  return p;
}

}  // namespace

/// A training loop of one's own hands the logits to cross_entropy as they are, which keeps their type and is on the
/// list of what autocast widens (pytorch aten/src/ATen/native/LossNLL.cpp; aten/src/ATen/autocast_mode.h).
Profile own_loop_profile(const Run& run) {
  Profile p = eager_profile(run);
  p.head.in_own_type = true;
  return p;
}

/// transformers with peft. Before PyTorch's fused attention it made its operands contiguous from release 4.48 to 4.55,
/// and has not expanded grouped keys and values since 4.54 (integrations/sdpa_attention.py). peft casts the inputs of
/// adapters beside whole matrices to the adapters' type (tuners/lora/layer.py, Linear.forward), which the trainer's
/// autocast narrows again where it is on unasked or fused kernels run beside them, and beside 4-bit ones, under that
/// autocast, copies what the matrix made (tuners/lora/bnb.py, Linear4bit.forward). Its policy for FSDP makes each
/// adapter a unit (utils/other.py, fsdp_auto_wrap_policy, taken by transformers trainer.py,
/// _fsdp_qlora_plugin_updates), which fused kernels keep out of FSDP (fms-acceleration accelerated-peft,
/// lora_adapters_switch_ddp_from_fsdp). Until release 5 experts are modules that run in a loop, and index_add_ keeps
/// what it adds (modeling_mixtral.py, MixtralSparseMoeBlock.forward; pytorch derivatives.yaml, index_add). What is
/// compiled is the model with its loss, which returns the logits as well; traced, a mask is never left out, and where
/// there is one grouped keys and values are expanded (masking_utils.py, _ignore_causal_mask_sdpa;
/// integrations/sdpa_attention.py, use_gqa_in_sdpa).
Profile transformers_profile(const Run& run) {
  const spec::Training& training = run.training;
  Profile p = eager_profile(run);
  const spec::Software& software = training.software;
  const bool narrows = training.fused_kernels || row_of(training.framework).half == HalfPrecision::loaded;
  p.adapters.fused = training.fused_kernels && is_quantized(training);
  p.adapters.own_units = has_adapter_modules(training.method) && !p.adapters.fused;
  p.adapters.retains_frozen_inputs = has_adapter_modules(training.method) && is_checkpointed(training);
  p.kernels.transformers_modules = true;
  p.attention.copies_heads =
      holds(Behaviour::operands_made_contiguous, software) && !holds(Behaviour::operands_left_strided, software);
  p.attention.sdpa_lacks_caps = holds(Behaviour::capped_scores_written_out, software);
  if (checkpoints_without_reentrance(training)) take_hooked_checkpoints(training, p);
  p.attention.groups_in_kernel = holds(Behaviour::grouped_heads_in_kernel, software) && !training.compile;
  p.head.narrow_loss_kernel = p.head.takes_zero_gradient = training.compile;
  p.experts.run_in_loop = p.experts.keeps_added_rows = !holds(Behaviour::experts_in_one_product, software);
  p.experts.one_parameter = !p.experts.run_in_loop;
  p.experts.one_product = !p.experts.run_in_loop && has_grouped_kernel(run);
  p.head.holds_narrow_logits = holds(Behaviour::narrow_logits_stay, software);
  p.head.shifts_logits = !holds(Behaviour::loss_without_shifted_copy, software);
  p.head.narrow_by_family = !holds(Behaviour::losses_of_library, software);
  p.quantized.keeps_input_type = is_of_bitsandbytes(training.precision.weights);
  p.quantized.copies_outputs = rests_in_4bit(training.precision.weights) && !training.fused_kernels;
  if (p.quantized.keeps_input_type) p.quantized.calls = calls_of_4bit_product;
  p.adapters.widens_input = !is_quantized(training) && !narrows && holds(Behaviour::adapters_widen_inputs, software);
  p.adapters.through_fp32 = !is_quantized(training) && narrows && !training.compile;
  p.quantized.unpacks_by_steps = !training.fused_kernels && !training.compile;
  return p;
}

/// A loop of one's own around such a model runs without autocast unless told to, and beside 4-bit matrices too inputs
/// of adapters are then cast to their type (peft tuners/lora/bnb.py, Linear4bit.forward, requires_conversion).
Profile accelerate_profile(const Run& run) {
  const spec::Training& training = run.training;
  Profile p = transformers_profile(run);
  const bool casts = rests_in_4bit(training.precision.weights) && !training.precision.autocast;
  if (casts && !training.fused_kernels) p.adapters.widens_input = true;
  return p;
}

/// litgpt/model.py, lora.py, adapter.py; finetune/lora.py, lm_head_chunk_size=128. Lightning's Fabric converts what a
/// model returns to fp32 (lightning/fabric/wrappers.py, convert_output) and quantizes all linear layers from fp16
/// (plugins/precision/bitsandbytes.py), so that bf16 products cast the dequantized matrix once more. Between
/// micro-batches FSDP does not reduce (no_backward_sync): each unit's flat gradient stays whole, as long as the unit
/// with its frozen weights (torch/distributed/fsdp/_flat_param.py). Its GPT has an output head of its own, which the
/// conversion of a tied checkpoint fills with the table (scripts/convert_hf_checkpoint.py). Until 2023 the first
/// micro-batch held the longest sample (finetune/lora.py, get_batch, longest_seq_ix), which therefore met no gradients
/// and no graph of another; `loss` keeps the graph of each until the next one's is assigned to it.
Profile litgpt_profile(const Run& run) {
  const spec::Training& training = run.training;
  constexpr std::int64_t head_chunk = 128;
  constexpr std::int64_t first_prompted_layer = 2;  // litgpt/adapter.py, Config.adapter_start_layer
  Profile p = eager_profile(run);
  p.attention.fused_projections = true;
  p.attention.rotates_into_copies = true;
  take_hooked_checkpoints(training, p);  // lightning/fabric/strategies/fsdp.py: NO_REENTRANT
  p.norm.weighs_wide = true;
  p.attention.writes_out_capped_scores = true;
  p.experts.run_in_loop = true;
  p.head.positions_at_once = head_chunk;
  p.head.holds_wide_logits = true;
  p.quantized.head = true;
  p.head.untied = true;
  p.quantized.dequantized_copies = 2;
  p.quantized.keeps_inputs = keeps_inputs_of_4bit_products(training);
  p.adapters.pads_output = true;
  p.gradients.accumulates_whole = true;
  p.loop.starts_with_longest = !holds(Behaviour::litgpt_shuffles, training.software);
  p.loop.keeps_last_graph = true;
  if (training.method == Method::adapter) p.adapters.prompt_layers_start = first_prompted_layer;
  return p;
}

/// torchtune/modules/transformer.py makes fp32 logits. Until release 0.3 of September 2024 the recipes shifted them
/// into a copy, whose transpose the loss copied once more, and until July kept that through the backward pass
/// (recipes/*.py; pull requests 1390 and 1235). NF4 is torchao's (dtypes/nf4tensor.py, get_original_weight): unless
/// compiled it unpacks a matrix into two halves of int64 indices, two of values and two of scaled values beside the
/// result, 4 + 4 + 1 + 1 + 1 + 1 + 2 bytes an element. The model is quantized where it trains, which until May 2024
/// took for each element its distance from all 16 values, those distances without their sign and the int64 index of the
/// least beside itself and its scaled copy (quantize_tensor_nearest; ao pull request 196 goes by chunks).
Profile torchtune_profile(const Run& run) {
  const spec::Training& training = run.training;
  constexpr int unpacked_copies = 7;
  constexpr std::int64_t whole_distances = 16 * (2 + 2) + 8 + 2 + 2;
  Profile p = eager_profile(run);
  take_hooked_checkpoints(training, p);  // training/_activation_checkpointing.py: checkpoint_wrapper
  p.attention.writes_out_capped_scores = true;
  p.head.shifts_logits = !holds(Behaviour::torchtune_whole_logits, training.software);
  p.head.holds_wide_logits = !holds(Behaviour::torchtune_frees_logits, training.software);
  p.quantized.scales = true;
  p.quantized.dequantized_copies = training.compile ? 1 : unpacked_copies;
  if (!holds(Behaviour::nf4_made_in_chunks, training.software)) p.quantized.loading_bytes = whole_distances;
  return p;
}

/// torchtitan/models/llama/model.py makes fp32 logits, and rotates complex numbers (apply_rotary_emb). train.py's
/// `pred` holds the logits during the backward pass until 2024-06-12 (`del pred`), and since 2024-10-22 they are
/// widened inside the loss. parallelisms/parallelize_llama.py, _custom_policy: selective recompute by operation;
/// apply_compile: each layer by itself, and since 2025 the loss (components/loss.py). Scores multiply rows of experts
/// in fp32 (models/moe.py, MoE.forward). Its scripts set expandable segments since 2024-10-22 (run_train.sh).
Profile torchtitan_profile(const Run& run) {
  const spec::Training& training = run.training;
  const bool widens_in_loss = holds(Behaviour::torchtitan_widens_in_loss, training.software);
  const bool compiles_loss = holds(Behaviour::torchtitan_compiled_loss, training.software);
  Profile p = eager_profile(run);
  p.head.holds_wide_logits = !holds(Behaviour::torchtitan_frees_logits, training.software);
  p.head.holds_narrow_logits = widens_in_loss;
  p.head.narrow_loss_kernel = training.compile && compiles_loss;
  p.head.parts_softmax = true;
  p.allocator.pools_by_stream = widens_in_loss;
  p.kernels.saves_products = true;
  p.host.hooks_checkpoints = !training.compile;
  p.kernels.stops_recompute = training.compile || !holds(Behaviour::torchtitan_recomputes_whole, training.software);
  p.attention.rotates_complex = true;
  p.exchange.gathers_table_apart = holds(Behaviour::torchtitan_table_apart, training.software);
  p.exchange.overlaps_tensor_if_asked = true;  // config/job_config.py, enable_async_tensor_parallel
  p.experts.weighs_results_wide = !training.compile;
  p.head.eager = !compiles_loss;
  return p;
}

/// llm-foundry: LPLayerNorm and flash-attention's cross-entropy on 16-bit logits (models/layers/norm.py,
/// models/mpt/modeling_mpt.py, loss_fn: fused_crossentropy). Two metrics of training: LanguageCrossEntropy and
/// perplexity (composer/trainer/trainer.py, _eval_train_metrics). Each widens the 16-bit logits and takes their
/// log-softmax: 2+4 and 3 x 4 bytes a logit (torchmetrics without gradients, composer/metrics/nlp.py,
/// LanguageCrossEntropy.update; loss.cpp, log_softmax_passes). Its fp8 is Transformer Engine's (models/layers/fc.py,
/// te; composer/core/precision.py, DelayedScaling), and its fused attention was Triton's (attn_impl triton).
Profile composer_profile(const Run& run) {
  const spec::Training& training = run.training;
  constexpr std::int64_t one_metric = 2 + 4 + 3 * 4;
  Profile p = eager_profile(run);
  p.norm.fused = true;
  p.attention.fused_projections = true;
  p.head.narrow_loss_kernel = true;
  p.attention.library = AttentionLibrary::triton;
  take_hooked_checkpoints(training, p);  // scripts/train/yamls: activation_checkpointing_reentrant: false
  p.narrow.casts_in_one_pass = true;
  p.narrow.scales_rows = false;
  p.head.runs_forward_for_metrics = runs_forward_for_metrics(training);
  p.head.metric_bytes = one_metric * (p.head.runs_forward_for_metrics ? 1 : 2);  // two behind one of two passes
  return p;
}

/// transformers' model under trainers that make the output head and the log-probabilities in tiles.
Profile trl_profile(const Run& run) {
  Profile p = transformers_profile(run);
  p.head.makes_tiles_again = holds(Behaviour::trl_tiled_head, run.training.software);
  return p;
}

/// Its kernels take the place of Llama-like modules, and their adapters' (unsloth 2026.10 kernels/fast_lora.py,
/// swiglu.py, rms_layernorm.py, rope_embedding.py); those of DoRA stay peft's (_has_active_dora_adapter). Logits exist
/// in tiles of 256 MiB (unsloth-zoo fused_losses/fused_linear.py, _BWD_TILE_BYTES). Checkpoints come back from the host
/// into one of two buffers in turn (gradient_checkpointing.py, GPU_BUFFERS and GPU_BUFFERS_B, the second one where half
/// a GiB is free), which nothing gives back.
Profile unsloth_profile(const Run& run) {
  const Method method = run.training.method;
  Profile p = transformers_profile(run);
  const bool adapts = method == Method::lora || method == Method::qlora;
  p.adapters.in_place = adapts && run.training.adapter.dropout == 0.0;
  p.mlp.fused_glu = true;
  p.head.loss_tile = quantity::mib(256);
  p.loop.checkpoint_buffers = 2;
  return p;
}

/// axolotl takes kernels like unsloth's for adapters unasked (axolotl 0.19.0 utils/schemas/config.py,
/// check_auto_enable_lora_kernels; kernels/lora.py, LoRA_MLP and LoRA_QKV): not where samples are compared, not beside
/// 8-bit matrices, and in releases before dropout came to them with none.
Profile axolotl_profile(const Run& run) {
  const spec::Training& training = run.training;
  Profile p = transformers_profile(run);
  const bool adapts = training.method == Method::lora || training.method == Method::qlora;
  const bool plain = training.algorithm == spec::Algorithm::sft && training.adapter.dropout == 0.0;
  const bool wide = training.precision.weights != formats::Dtype::int8;
  p.adapters.in_place = adapts && plain && wide;
  p.adapters.add_by_product = p.adapters.in_place && holds(Behaviour::axolotl_adds_by_product, training.software);
  if (p.adapters.add_by_product) p.adapters.widens_input = p.adapters.through_fp32 = false;  // A.to(dtype)
  p.mlp.fused_glu = p.adapters.in_place;
  return p;
}

/// transformers' model in train.py of AnswerDotAI/fsdp_qlora.
Profile fsdp_qlora_profile(const Run& run) {
  const spec::Training& training = run.training;
  Profile p = transformers_profile(run);
  p.quantized.keeps_inputs = keeps_inputs_of_4bit_products(training);
  take_hooked_checkpoints(training, p);  // train.py, reentrant_checkpointing is off
  return p;
}

/// foundation-model-stack/fms-fsdp, policies/mixed_precision.py, bfSixteen: reduce_dtype is the type of the products.
/// Its loop takes the loss of what the compiled model returns (utils/train_utils.py, train).
Profile fms_fsdp_profile(const Run& run) {
  Profile p = transformers_profile(run);
  p.kernels.transformers_modules = false;
  p.experts.run_in_loop = p.experts.keeps_added_rows = false;
  p.experts.one_parameter = p.experts.one_product = false;
  p.head.narrow_loss_kernel = p.head.takes_zero_gradient = false;
  p.attention.copies_heads = p.attention.groups_in_kernel = false;
  take_hooked_checkpoints(run.training, p);  // policies/ac_handler.py: NO_REENTRANT
  p.exchange.reduces_narrow = true;
  return p;
}

/// deepspeed's engine around a model of transformers.
Profile deepspeed_profile(const Run& run) {
  Profile p = transformers_profile(run);
  apply_deepspeed(run, p);
  return p;
}

/// Its kernels take the place of the modules (Liger-Kernel src/liger_kernel/transformers/monkey_patch.py).
Profile liger_profile(const Run& run) {
  Profile p = transformers_profile(run);
  p.mlp.fused_glu = true;
  p.norm.fused = true;
  p.attention.fuses_rotary = true;
  p.kernels.eager = false;
  return p;
}

}  // namespace llmcalc::frameworks
