#include "frameworks/torch_frameworks.hpp"

#include "llmcalc/frameworks/release.hpp"

namespace llmcalc::frameworks {

using spec::Framework;
using spec::Method;

namespace {

/// A chain of tensor operations, gradients made in each backward pass.
Profile eager() {
  Profile p;
  p.eager_kernels = true;
  p.fused_norm = false;
  p.fuses_small_gradients = false;
  p.fuses_rotary = false;
  p.overlaps_input_gradients = false;  // DTensor waits for each exchange
  p.copies_exchanged = true;
  p.keeps_gathered_inputs = true;
  p.fused_glu = false;
  p.fused_projections = false;
  p.fused_gate_and_up = false;
  p.repeats_kv = true;
  p.copies_heads = false;
  p.softmax_in_fp32 = true;
  p.eager_loss = true;
  p.chains_softmax = true;
  p.keeps_expert_outputs = true;
  p.narrows_experts = false;  // torchao swaps nn.Linear; experts are parameters (torchtitan models/moe.py)
  p.persistent_gradients = false;
  p.accumulation = Accumulation::apart;
  p.keeps_batch = true;
  p.holds_narrow_logits = false;
  return p;
}

bool is_quantized(const spec::Training& training) { return formats::is_quantized(training.precision.weights); }

/// As bitsandbytes' Linear4bit keeps it.
bool rests_in_4bit(formats::Dtype weights) {
  using formats::Dtype;
  return weights == Dtype::nf4 || weights == Dtype::nf4_dq || weights == Dtype::fp4 || weights == Dtype::fp4_dq;
}

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

/// transformers with peft. Before PyTorch's fused attention it made its operands contiguous from release 4.48 to 4.55,
/// and has not expanded grouped keys and values since 4.54 (integrations/sdpa_attention.py). peft casts the inputs of
/// adapters beside whole matrices to the adapters' type (tuners/lora/layer.py, Linear.forward) and beside 4-bit ones,
/// under the trainer's autocast, copies what the matrix made (tuners/lora/bnb.py, Linear4bit.forward). Until release 5
/// experts are modules that run in a loop, and index_add_ keeps what it adds (modeling_mixtral.py,
/// MixtralSparseMoeBlock.forward; pytorch derivatives.yaml, index_add).
Profile huggingface(const spec::Training& training) {
  Profile p = eager();
  const Release transformers = transformers_release(training.framework_version);
  p.fused_adapters = training.fused_kernels && is_quantized(training);
  p.retains_frozen_inputs = has_adapter_modules(training.method) && is_checkpointed(training);
  p.transformers_modules = true;
  p.copies_heads = transformers >= Release{4, 48} && transformers < Release{4, 56};
  p.groups_in_kernel = transformers >= Release{4, 54};
  p.loops_over_experts = p.keeps_added_rows = transformers < Release{5, 0};
  p.holds_narrow_logits = transformers >= Release{4, 45};
  p.shifts_logits = transformers < Release{4, 50};
  p.copies_quantized_outputs = rests_in_4bit(training.precision.weights) && !training.fused_kernels;
  p.widens_adapter_input = !is_quantized(training) && !training.fused_kernels && transformers >= Release{4, 45};
  return p;
}

/// bitsandbytes kept the input of every 4-bit product until release 0.43.2 of July 2024 (autograd/_functions.py,
/// MatMul4Bit.forward, ctx.tensors). Version texts rarely name it: a run is dated by the transformers of that summer.
bool keeps_inputs_of_4bit_products(const spec::Training& training) {
  return transformers_release(training.framework_version) < Release{4, 45};
}

/// litgpt/model.py, lora.py, adapter.py; finetune/lora.py, lm_head_chunk_size=128. Lightning's Fabric converts what a
/// model returns to fp32 (lightning/fabric/wrappers.py, convert_output) and quantizes all linear layers from fp16
/// (plugins/precision/bitsandbytes.py), so that bf16 products cast the dequantized matrix once more. Between
/// micro-batches FSDP does not reduce (no_backward_sync): each unit's flat gradient stays whole, as long as the unit
/// with its frozen weights (torch/distributed/fsdp/_flat_param.py). Its GPT has an output head of its own, which the
/// conversion of a tied checkpoint fills with the table (scripts/convert_hf_checkpoint.py). Until 2023 the first
/// micro-batch held the longest sample (finetune/lora.py, get_batch, longest_seq_ix), which therefore met no gradients
/// and no graph of another; `loss` keeps the graph of each until the next one's is assigned to it.
Profile litgpt(const spec::Training& training) {
  constexpr std::int64_t head_chunk = 128;
  constexpr std::int64_t first_prompted_layer = 2;  // litgpt/adapter.py, Config.adapter_start_layer
  Profile p = eager();
  p.fused_projections = true;
  p.rotates_into_copies = true;
  p.weighs_norm_wide = true;
  p.writes_out_capped_scores = true;
  p.loops_over_experts = true;
  p.loss_positions = head_chunk;
  p.holds_wide_logits = true;
  p.quantizes_head = true;
  p.unties_head = true;
  p.dequantized_copies = 2;
  p.keeps_quantized_inputs = keeps_inputs_of_4bit_products(training);
  p.pads_adapter_output = true;
  p.accumulates_whole_gradients = true;
  p.starts_with_longest = is_dated_until(training.framework_version, 2023);
  p.keeps_last_graph = true;
  if (training.method == Method::adapter) p.prompt_layers_start = first_prompted_layer;
  return p;
}

/// recipes/configs/llama2/7B_full_low_memory.yaml sets PagedAdamW with optimizer_in_bwd, which needs one micro-batch a
/// step.
bool steps_in_backward(const spec::Training& training) {
  const auto optimizer = training.optimizer;
  const bool paged = optimizer == spec::Optimizer::paged_adamw || optimizer == spec::Optimizer::paged_adamw_8bit;
  return paged && training.method == Method::full && training.grad_accum == 1;
}

/// torchtune/modules/transformer.py makes fp32 logits. Until release 0.3 of September 2024 the recipes shifted them
/// into a copy, whose transpose the loss copied once more, and kept that through the backward pass (recipes/*.py; pull
/// requests 1235 and 1390). NF4 is torchao's (dtypes/nf4tensor.py, get_original_weight): unless compiled it unpacks a
/// matrix into two halves of int64 indices, two of values and two of scaled values beside the result, 4 + 4 + 1 + 1 +
/// 1 + 1 + 2 bytes an element.
Profile torchtune(const spec::Training& training) {
  constexpr int unpacked_copies = 7;
  Profile p = eager();
  p.updates_in_backward = steps_in_backward(training);
  p.writes_out_capped_scores = true;
  p.shifts_logits = p.holds_wide_logits = torchtune_release(training.framework_version) < Release{0, 3};
  p.quantizes_scales = true;
  p.dequantized_copies = training.compile ? 1 : unpacked_copies;
  return p;
}

/// torchtitan/models/llama/model.py makes fp32 logits, which train.py's `pred` holds during the backward pass, and
/// rotates complex numbers (apply_rotary_emb). parallelisms/parallelize_llama.py, _custom_policy: selective recompute
/// by operation; apply_compile: each layer by itself, and since 2025 the loss (components/loss.py). Scores multiply
/// rows of experts in fp32 (models/moe.py, MoE.forward).
Profile torchtitan(const spec::Training& training) {
  Profile p = eager();
  p.holds_wide_logits = true;
  p.saves_products = true;
  p.rotates_complex = true;
  p.weighs_results_wide = !training.compile;
  p.eager_head = training.framework_version.find("2024") != std::string::npos;
  return p;
}

/// Until 2023 MosaicML's models were in mosaicml/examples, and the tables of that time were made with releases of
/// Composer that evaluated each micro-batch once more, before it was trained on, for the metrics of training
/// (composer/trainer/trainer.py, _train_loop: `validate(eval_microbatch)`); later ones take the outputs at hand. Of
/// models that were measured at both times the older runs took 1.34 times as long without recomputation and 1.23 times
/// with it (medians of 10 and 18 pairs); the pass makes it 4/3 and 5/4.
bool runs_forward_for_metrics(const spec::Training& training) {
  return training.framework_version.find("mosaicml/examples") != std::string_view::npos;
}

/// llm-foundry: LPLayerNorm and flash-attention's cross-entropy on 16-bit logits (models/layers/norm.py,
/// models/mpt/modeling_mpt.py, loss_fn: fused_crossentropy). Two metrics of training: LanguageCrossEntropy and
/// perplexity (composer/trainer/trainer.py, _eval_train_metrics). Each widens the 16-bit logits and takes their
/// log-softmax: 2+4 and 3 x 4 bytes a logit (torchmetrics without gradients, composer/metrics/nlp.py,
/// LanguageCrossEntropy.update; loss.cpp, log_softmax_passes). Its fp8 is Transformer Engine's (models/layers/fc.py,
/// te; composer/core/precision.py, DelayedScaling).
Profile composer(const spec::Training& training) {
  constexpr std::int64_t one_metric = 2 + 4 + 3 * 4;
  Profile p = eager();
  p.fused_norm = true;
  p.fused_projections = true;
  p.narrow_loss_kernel = true;
  p.casts_in_one_pass = true;
  p.runs_forward_for_metrics = runs_forward_for_metrics(training);
  p.metric_bytes = one_metric * (p.runs_forward_for_metrics ? 1 : 2);  // two behind one of two passes
  return p;
}

/// transformers' model in train.py of AnswerDotAI/fsdp_qlora.
Profile fsdp_qlora(const spec::Training& training) {
  Profile p = huggingface(training);
  p.keeps_quantized_inputs = keeps_inputs_of_4bit_products(training);
  return p;
}

/// foundation-model-stack/fms-fsdp, policies/mixed_precision.py, bfSixteen: reduce_dtype is the type of the products.
Profile fms_fsdp(const spec::Training& training) {
  Profile p = huggingface(training);
  p.transformers_modules = p.loops_over_experts = p.keeps_added_rows = false;
  p.copies_heads = p.groups_in_kernel = false;
  p.reduces_narrow = true;
  return p;
}

}  // namespace

Profile torch_profile(const spec::Training& training) {
  switch (training.framework) {
    case Framework::litgpt:
      return litgpt(training);
    case Framework::torchtune:
      return torchtune(training);
    case Framework::torchtitan:
      return torchtitan(training);
    case Framework::composer:
      return composer(training);
    case Framework::fsdp_qlora:
      return fsdp_qlora(training);
    case Framework::fms_fsdp:
      return fms_fsdp(training);
    case Framework::torch:
      return eager();
    default:
      return huggingface(training);
  }
}

}  // namespace llmcalc::frameworks
