// How a model is trained: the choices of a run that are not the model and not the machine.
#pragma once

#include "llmcalc/formats/dtype.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/software.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmcalc::spec {

/// Each has a row in frameworks/table.hpp, or nothing compiles.
enum class Framework {
  generic,
  hf,
  trl,
  accelerate,
  litgpt,
  torchtune,
  torchtitan,
  torch,
  fsdp_qlora,
  lightning,
  composer,
  megatron,
  megatron_bridge,
  megatron_deepspeed,
  deepspeed,
  nemo,
  internevo,
  colossalai,
  ms_swift,
  axolotl,
  llama_factory,
  unsloth,
  pax,
  maxtext,
  llm_c,
  fms_fsdp,
  liger,
  count  ///< how many there are
};
enum class Method { full, lora, qlora, dora, adalora, ia3, prompt, prefix, adapter, galore, inference, forward_only };
/// By what the weights are trained. All but sft compare samples with each other or with what another model thinks of
/// them.
enum class Algorithm {
  sft,   ///< the next token's surprise, in pre-training too
  dpo,   ///< Rafailov et al. 2023, arXiv:2305.18290
  orpo,  ///< Hong et al. 2024, arXiv:2403.07691
  kto,   ///< Ethayarajh et al. 2024, arXiv:2402.01306
  ppo,   ///< Ouyang et al. 2022, arXiv:2203.02155
  grpo   ///< Shao et al. 2024, arXiv:2402.03300
};
/// The model from which the trained one shall not go far.
enum class Reference {
  none,
  model,       ///< a frozen copy
  base,        ///< the trained model with its adapters switched off
  precomputed  ///< its log-probabilities were stored before training
};
enum class Optimizer {
  adamw,
  adamw_8bit,          ///< bitsandbytes'
  adamw_8bit_torchao,  ///< torchao's, which quantizes the moments of all tensors
  adamw_4bit,
  paged_adamw,
  paged_adamw_8bit,
  sgd,
  sgd_momentum,
  muon,
  adafactor,
  lion,
  galore_adamw_8bit,
  adagrad,
  lamb,
  shampoo,
  soap,
  apollo,
  apollo_mini,
  lomo,
  adalomo,
  none
};
enum class OptimizerImpl { foreach, fused, loop };
enum class RecomputePolicy { none, selective, full };
/// Which layers full recompute covers, and how many of them share one checkpoint.
enum class RecomputeLayers {
  all,
  every,    ///< each n-th layer; the others keep what they made (torchtitan, fms-fsdp)
  uniform,  ///< groups of n layers, of which each keeps its first layer's input (Megatron-LM --recompute-method)
  block     ///< the first n layers of each pipeline stage or virtual stage (the same option)
};
/// Parts of a layer that selective recompute covers (Megatron-LM --recompute-modules).
enum class RecomputeModule { core_attn, mlp, moe, shared_experts, moe_act, layernorm, mla_up_proj };
/// Result that a layer under full recompute keeps nevertheless, because somebody named it (jax.checkpoint_policies).
enum class KeptResult { query, key, value, context, out, gate, up, down };
enum class AttentionKernel { flash, sdpa, eager };
/// Whose layers Megatron-LM runs (--transformer-impl).
enum class TransformerImpl { transformer_engine, local };
enum class Loss {
  standard,
  fused,
  fused_linear,
  cut,
  chunked,
  compiled,
  vocab_parallel,
  vocab_parallel_fused,
  te_fused
};
enum class Offload { none, optimizer, optimizer_gradients, params, params_optimizer, activations };
/// Part of a step that runs as CUDA graphs, which need no host between their kernels.
enum class CudaGraph {
  none,
  scoped,  ///< attention, router and what prepares the dispatch (Megatron-LM --cuda-graph-scope)
  full     ///< the whole iteration (full_iteration)
};
/// Part of an operand of 8-bit products that has a scale of its own (torchao recipe_name: tensorwise, rowwise).
enum class Fp8Scaling { tensor, row };
/// Where what is offloaded rests.
enum class OffloadTarget { host, nvme };
/// How a checkpoint comes from the accelerators to the disk.
enum class SaveCheckpoint {
  none,       ///< nobody asks what it takes
  framework,  ///< as the framework does where its user says nothing
  full,       ///< whole weights on the accelerator (FSDP FULL_STATE_DICT), each rank's own where nothing is sharded
  full_cpu,   ///< gathered piece by piece into the first rank's host memory (the same with offload_to_cpu, rank0_only)
  sharded,    ///< each rank writes what it has (torch.distributed.checkpoint, torch_dist)
  async       ///< the same from a copy in host memory, while training goes on
};
enum class ActivationModel {
  program,        ///< what the step program keeps
  none,           ///< model states only
  rule_of_thumb,  ///< 8 bytes per parameter of activations and temporary memory
};

/// Bytes per parameter, six independent knobs (design.md §5). A weight that rests in a 16-bit type may have an fp32
/// master copy beside it; the optimizer keeps `moments` tensors of `moment` type.
struct Precision {
  formats::Dtype weights = formats::Dtype::bf16;
  formats::Dtype compute = formats::Dtype::bf16;  ///< matrix products; decides activation width
  formats::Dtype grads = formats::Dtype::bf16;
  bool grad_copy = false;  ///< an fp32 copy of narrower gradients for the optimizer
  bool master = false;     ///< a copy of narrower weights for the optimizer
  formats::Dtype master_type = formats::Dtype::fp32;
  bool autocast = false;  ///< weights rest wider and are cast at each use
  formats::Dtype moments = formats::Dtype::fp32;
  bool master_remainder = false;  ///< of that copy only the low 16 bits, beside bf16 weights that are the high ones
  /// Type of norms, tables and head beside quantized matrices; unsaid: `compute`.
  std::optional<formats::Dtype> unquantized = std::nullopt;
  /// The type of experts that are made wide before they rest, beside weights that are loaded in fp32; unsaid: as those.
  std::optional<formats::Dtype> experts = std::nullopt;

  friend bool operator==(const Precision&, const Precision&) = default;
};

struct Recompute {
  RecomputePolicy policy = RecomputePolicy::none;
  RecomputeLayers layers = RecomputeLayers::all;
  std::int64_t count = 1;                ///< the n of `layers`: 2 in "every-2"
  std::vector<RecomputeModule> modules;  ///< of selective recompute; empty: the attention core
  std::vector<KeptResult> kept;          ///< of full recompute

  friend bool operator==(const Recompute&, const Recompute&) = default;
};

/// A module whose adapters have a rank of their own.
struct ModuleRank {
  std::string module;
  std::int64_t rank = 0;
};

struct Adapter {
  std::int64_t rank = 0;
  std::vector<std::string> targets;     ///< modules that carry one
  std::vector<std::string> excluded;    ///< of those, the ones that do not after all
  std::vector<std::string> parameters;  ///< without a module of their own, that carry one: of experts
  std::vector<std::string> saved;       ///< modules that are trained whole, in a copy beside the frozen one
  std::vector<ModuleRank> ranks;
  std::vector<std::int64_t> layers;  ///< that carry them, from 0; empty: all
  std::int64_t trained_tokens = 0;   ///< rows of the token table that are trained
  bool bias = false;                 ///< the second matrix of each has one
  double dropout = 0.05;             ///< of the adapters' inputs; the default of trl's examples
  std::int64_t virtual_tokens = 0;   ///< learned positions of prompt and prefix tuning
  std::int64_t width = 0;            ///< inner width of bottleneck adapters
};

/// Use of the towers of a multimodal model in a run.
enum class TowerUse {
  trained,
  frozen,  ///< they run forward, nothing is kept of them but what the text model reads
  absent,  ///< the text part alone
};

struct Training {
  Framework framework = Framework::generic;
  Software software;  ///< releases and date as far as said
  Method method = Method::full;
  Algorithm algorithm = Algorithm::sft;
  Reference reference = Reference::none;
  Adapter adapter;
  Precision precision;
  Optimizer optimizer = Optimizer::adamw;
  OptimizerImpl optimizer_impl = OptimizerImpl::fused;
  bool optimizer_in_backward = false;  ///< each weight is updated as soon as its gradient exists, which is then dropped
  std::int64_t optimizer_rank = 0;     ///< of the projection in which GaLore and APOLLO keep their moments
  TowerUse towers = TowerUse::trained;
  std::int64_t images = 1;   ///< or clips of sound, in a sample
  std::int64_t patches = 0;  ///< positions that an image has in its tower; 0: those of the model's own size
  std::int64_t seq = 0;
  std::int64_t cached = 0;  ///< positions in front of each sample whose keys and values a server has kept
  std::int64_t micro_batch = 1;
  std::int64_t grad_accum = 1;
  std::int64_t global_batch = 0;
  std::int64_t batch_of_rank = 0;  ///< sequences of a step that a rank was told to split evenly; 0: nobody said
  std::int64_t eval_batch = 0;     ///< sequences that a rank evaluates at once; 0: nothing is evaluated
  SaveCheckpoint save_checkpoint = SaveCheckpoint::none;
  double colocate_fraction = 0.0;  ///< of the accelerator's memory, that an engine beside the trainer generates in
  bool samples_by_engine = false;  ///< one that holds nothing while the model is trained: it sleeps, or is elsewhere
  Recompute recompute;
  AttentionKernel attention = AttentionKernel::flash;
  bool compile = false;
  bool fused_kernels = false;
  bool launch_blocking = false;  ///< CUDA_LAUNCH_BLOCKING=1: the host hands over a kernel when the one before is done
  TransformerImpl transformer_impl = TransformerImpl::transformer_engine;
  std::int64_t mtp_num_layers = 0;      ///< tokens further ahead than the next that are predicted and trained on
  bool mtp_use_repeated_layer = false;  ///< of which each passes through the weights of the first
  bool grouped_experts = true;          ///< a rank's experts run as one grouped product, not one after another
  std::optional<bool> deterministic;    ///< CUBLAS_WORKSPACE_CONFIG=:4096:8; empty: the framework's
  Loss loss = Loss::standard;
  CudaGraph cuda_graph = CudaGraph::none;
  Fp8Scaling fp8_scaling = Fp8Scaling::tensor;
  bool fp8_attention = false;        ///< the attention kernel multiplies in 8 bits too
  bool fp8_head = false;             ///< and so does the output head
  bool softmax_fusion = true;        ///< unfused attention has one kernel for scale, mask and softmax (Megatron-LM)
  std::int64_t document_length = 0;  ///< of the documents packed into a sequence; 0: each is one document
  Offload offload = Offload::none;
  std::optional<std::int64_t> offload_layers;  ///< of which activations leave, of the whole model; empty: of all
  OffloadTarget offload_to = OffloadTarget::host;
  ActivationModel activations = ActivationModel::program;
  std::optional<double>
      moe_imbalance;  ///< rows of the busiest expert-parallel rank over the mean; empty: the framework's

  /// A chosen and a rejected answer are one sample and run as one batch (trl dpo_trainer.py, concatenated_forward).
  constexpr std::int64_t sequences_of_sample() const {
    return algorithm == Algorithm::dpo || algorithm == Algorithm::orpo ? 2 : 1;
  }
  constexpr std::int64_t sequences() const { return quantity::product(micro_batch, sequences_of_sample()); }
  /// The trained model makes the samples that it learns from.
  constexpr bool makes_samples() const { return algorithm == Algorithm::ppo || algorithm == Algorithm::grpo; }
  /// It does so itself, and keeps the keys and values of all that it generates at once.
  constexpr bool generates() const { return makes_samples() && !samples_by_engine && colocate_fraction == 0.0; }
  constexpr std::int64_t micro_batch_tokens() const { return quantity::product(seq, sequences()); }
  constexpr std::int64_t step_tokens() const { return quantity::product(global_batch, sequences_of_sample(), seq); }
};

}  // namespace llmcalc::spec
